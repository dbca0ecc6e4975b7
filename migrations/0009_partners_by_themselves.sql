-- What partners do by themselves: look at their keys, sign up, get back in.

-- The list of keys asks for the last days of each key on the page, and when it was last called.
create index rollup_day_key on rollup_day (partner_id, key_id, at);
create index rollup_hour_key on rollup_hour (partner_id, key_id, at);

-- One-time links that set a new password. Only the SHA-256 of the token is kept.
create table password_reset (
    token_hash bytea primary key check (length(token_hash) = 32),
    person_id  bigint not null references person on delete cascade,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null,
    used_at    timestamptz
);
create index password_reset_person on password_reset (person_id);

-- Browsers in which a person has signed in: their attempts are counted apart from everybody else's, so that strangers
-- who guess at an account keep only themselves out of it.
create table device (
    token_hash bytea primary key check (length(token_hash) = 32),
    person_id  bigint not null references person on delete cascade,
    created_at timestamptz not null default now(),
    seen_at    timestamptz not null default now()
);
create index device_person on device (person_id);

-- Sign-ups of the last hour, for throttling by address.
create table sign_up_attempt (
    at      timestamptz not null default now(),
    address text not null
);
create index sign_up_attempt_address on sign_up_attempt (address, at);
