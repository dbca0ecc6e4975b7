-- What operators declare: upstreams, plans, routes, partners, and the keys that partners make.
-- Nothing here is ever deleted: rollups name rows by id, and yesterday's funnel must still find its names.
-- A thing that is taken away is retired, and its name is free again.

create table upstream (
    id                 bigint generated always as identity primary key,
    name               text not null,
    urls               text[] not null check (cardinality(urls) > 0),
    connect_timeout_ms bigint not null default 1000 check (connect_timeout_ms > 0),
    timeout_ms         bigint not null default 10000 check (timeout_ms > 0),
    health             text,
    -- Values as written in the file ("${ORDERS_TOKEN}"): the secrets themselves stay in each node's environment.
    headers            jsonb not null default '{}',
    breaker_failures   integer not null default 5 check (breaker_failures > 0),
    breaker_window_ms  bigint not null default 10000 check (breaker_window_ms > 0),
    breaker_open_ms    bigint not null default 5000 check (breaker_open_ms > 0),
    max_in_flight      integer not null default 1000 check (max_in_flight > 0),
    retired_at         timestamptz
);
create unique index upstream_name on upstream (name) where retired_at is null;

create table plan (
    id                bigint generated always as identity primary key,
    name              text not null,
    capacity          integer not null check (capacity >= 0),
    refill_per_second double precision not null check (refill_per_second >= 0 and refill_per_second < 'infinity'),
    max_keys          integer not null default 10 check (max_keys >= 0),
    -- Names rather than ids, null for all: a plan may be declared before its routes.
    routes            text[],
    sign_up           boolean not null default false,
    retired_at        timestamptz
);
create unique index plan_name on plan (name) where retired_at is null;

create table route (
    id           bigint generated always as identity primary key,
    name         text not null,
    path         text not null check (path like '/%'),
    upstream_id  bigint not null references upstream,
    strip        boolean not null default true,
    methods      text[],
    access       text not null default 'key' check (access in ('key', 'public')),
    -- Null is unlimited.
    body_limit   bigint default 1048576 check (body_limit >= 0),
    identity     boolean not null default false,
    cache        boolean not null default false,
    cache_ttl_ms bigint not null default 0 check (cache_ttl_ms >= 0),
    cors         text[] not null default '{}',
    is_off       boolean not null default false,
    -- Part of every cache key: a route that changes forgets what it has stored.
    generation   bigint not null default 1,
    retired_at   timestamptz
);
create unique index route_name on route (name) where retired_at is null;
create unique index route_path on route (path) where retired_at is null;

create table partner (
    id         bigint generated always as identity primary key,
    slug       text not null,
    name       text not null,
    plan_id    bigint not null references plan,
    suspended  boolean not null default false,
    created_at timestamptz not null default now(),
    retired_at timestamptz
);
create unique index partner_slug on partner (slug) where retired_at is null;

create table api_key (
    id         bigint generated always as identity primary key,
    partner_id bigint not null references partner,
    name       text not null,
    -- SHA-256 of the whole key; the key itself is shown once and kept nowhere.
    hash       bytea not null unique check (length(hash) = 32),
    start      text not null check (length(start) = 10),
    -- Route names this key is limited to; null for all of its plan.
    routes     text[],
    created_at timestamptz not null default now(),
    expires_at timestamptz,
    -- In the future while a rotated key is still honoured.
    revoked_at timestamptz,
    -- The key that this one took over from. One successor a key: while both are honoured, they count as one towards
    -- the plan's max_keys, and a second successor would be a key too many.
    replaces   bigint unique references api_key
);
create index api_key_partner on api_key (partner_id);

-- One row, counted up by whoever changes the catalog or a key, so that a node that missed a notice finds out.
create table catalog_version (
    only_row boolean primary key default true check (only_row),
    version  bigint not null
);
insert into catalog_version (version) values (1);
