-- One bucket a partner: all its keys draw from it, so that making keys makes no quota.
create table bucket (
    partner_id  bigint primary key,
    tokens      double precision not null check (tokens >= 0),
    refilled_at timestamptz not null default now(),
    -- What the last statement found and granted: RETURNING sees new values only.
    level       double precision not null default 0,
    granted     integer not null default 0 check (granted >= 0)
) with (fillfactor = 50);

-- The last refusal by key and address: who comes back before `until` came too early.
create table refusal (
    partner_id bigint not null,
    key_id     bigint not null,
    address    text not null,
    -- Since when the caller has been refused without having kept away for as long as asked.
    since      timestamptz not null,
    refused_at timestamptz not null,
    until      timestamptz not null,
    primary key (partner_id, key_id, address)
) with (fillfactor = 50);
create index refusal_until on refusal (until);
