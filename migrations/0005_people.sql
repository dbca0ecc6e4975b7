-- Who may look: operators see everything, a partner's people see their partner.
create table person (
    id            bigint generated always as identity primary key,
    email         text not null check (email = lower(email) and email like '%_@_%'),
    role          text not null check (role in ('ops', 'partner')),
    partner_id    bigint references partner,
    -- argon2id, in PHC text form.
    password_hash text not null,
    created_at    timestamptz not null default now(),
    check ((role = 'partner') = (partner_id is not null))
);
create unique index person_email on person (email);

-- One-time links. Only the SHA-256 of the token is kept.
create table invitation (
    token_hash bytea primary key check (length(token_hash) = 32),
    -- Null: whoever holds the link names the address (the first operator).
    email      text,
    role       text not null check (role in ('ops', 'partner')),
    partner_id bigint references partner,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null,
    used_at    timestamptz,
    check ((role = 'partner') = (partner_id is not null))
);

create table session (
    token_hash bytea primary key check (length(token_hash) = 32),
    person_id  bigint not null references person on delete cascade,
    created_at timestamptz not null default now(),
    seen_at    timestamptz not null default now(),
    expires_at timestamptz not null
);
create index session_person on session (person_id);

-- Failed sign-ins, for throttling by account and by address.
create table sign_in_failure (
    at      timestamptz not null default now(),
    email   text not null,
    address text not null
);
create index sign_in_failure_email on sign_in_failure (email, at);
create index sign_in_failure_address on sign_in_failure (address, at);
