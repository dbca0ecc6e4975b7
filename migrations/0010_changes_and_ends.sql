-- Who changed what: one row a change, written in the transaction that makes it. Of keys it names the start that screens
-- show anyway, of headers the variables; no key, hash or secret is ever in it.
create table change (
    id     bigint generated always as identity primary key,
    at     timestamptz not null default now(),
    -- An e-mail address, or a command such as "toll apply".
    who    text not null check (who <> ''),
    what   text not null,
    name   text not null,
    -- Only what differs. Null before: it is new. Null after: it is gone.
    before jsonb,
    after  jsonb
);
create index change_of on change (what, name, id);

-- Where each partner's requests ended: a third family of rollups, narrow, for screens that show many partners. Its cost
-- grows with partners, neither with their keys nor with what they call.
create table ends_minute (
    node_id    integer not null,
    at         timestamptz not null,
    -- 0: nobody's.
    partner_id bigint not null,
    stage      smallint not null,
    reached    boolean not null,
    requests   bigint not null,
    primary key (node_id, partner_id, at, stage, reached)
) with (fillfactor = 70);
create index ends_minute_at on ends_minute (at);
create index ends_minute_partner on ends_minute (partner_id, at);
create table ends_hour (
    node_id    integer not null,
    at         timestamptz not null,
    partner_id bigint not null,
    stage      smallint not null,
    reached    boolean not null,
    requests   bigint not null,
    primary key (node_id, partner_id, at, stage, reached)
) with (fillfactor = 70);
create index ends_hour_at on ends_hour (at);
create index ends_hour_partner on ends_hour (partner_id, at);
create table ends_day (
    node_id    integer not null,
    at         timestamptz not null,
    partner_id bigint not null,
    stage      smallint not null,
    reached    boolean not null,
    requests   bigint not null,
    primary key (node_id, partner_id, at, stage, reached)
) with (fillfactor = 70);
create index ends_day_at on ends_day (at);
create index ends_day_partner on ends_day (partner_id, at);

-- What is in the books already.
insert into ends_minute (node_id, at, partner_id, stage, reached, requests)
select node_id, at, partner_id, stage, reached, sum(requests) from rollup_minute group by 1, 2, 3, 4, 5;
insert into ends_hour (node_id, at, partner_id, stage, reached, requests)
select node_id, at, partner_id, stage, reached, sum(requests) from rollup_hour group by 1, 2, 3, 4, 5;
insert into ends_day (node_id, at, partner_id, stage, reached, requests)
select node_id, at, partner_id, stage, reached, sum(requests) from rollup_day group by 1, 2, 3, 4, 5;
