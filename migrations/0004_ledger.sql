-- Double entry: arrivals at the door on one side, how each request ended on the other. One process of each node writes
-- here; the node is part of every key, so that nodes never wait for each other's rows.
-- Stages, outcomes and cache misses are the codes of app/src/domain. 0 stands for "none" in key columns, which a
-- primary key could not hold as null. No foreign keys: ledger tables must be distributable by node.

create table node (
    id           integer generated always as identity primary key,
    -- Kept in the node's data folder.
    identity     uuid not null unique,
    -- The process that writes as this node. Another one takes over by changing it, and the former notices.
    incarnation  uuid not null,
    host         text not null,
    started_at   timestamptz not null default now(),
    heartbeat_at timestamptz not null default now(),
    -- Ended in good order: nothing in flight, everything shipped.
    stopped_at   timestamptz
);

-- Up to which record of a lane the ledger has everything. Moves in the statement that writes the records.
create table lane (
    node_id integer not null,
    lane    smallint not null,
    shipped bigint not null default 0,
    -- Counts the statements, so that one without records (news of the door only) cannot count twice either.
    batch   bigint not null default 0,
    primary key (node_id, lane)
) with (fillfactor = 50);

-- From where on something is whole: older parts are dropped by age.
create table ledger_kept (
    what  text primary key check (what in ('log', 'minute', 'hour')),
    since timestamptz not null
);

-- Rows of the minute, hour and day that are running are written again with each batch: pages keep room for that.
-- The arrivals side. `open` is what the door saw come in and no shipped record has closed yet.
create table door_minute (
    node_id integer not null,
    lane    smallint not null,
    at      timestamptz not null,
    arrived bigint not null check (arrived >= 0),
    open    bigint not null,
    primary key (node_id, lane, at)
) with (fillfactor = 70);
create index door_minute_at on door_minute (at);
create table door_hour (
    node_id integer not null,
    lane    smallint not null,
    at      timestamptz not null,
    arrived bigint not null check (arrived >= 0),
    open    bigint not null,
    primary key (node_id, lane, at)
) with (fillfactor = 70);
create index door_hour_at on door_hour (at);
create table door_day (
    node_id integer not null,
    lane    smallint not null,
    at      timestamptz not null,
    arrived bigint not null check (arrived >= 0),
    open    bigint not null,
    primary key (node_id, lane, at)
) with (fillfactor = 70);
create index door_day_at on door_day (at);

-- The raw log: what a receipt tells. Partitioned by day of arrival; the default partition takes what fits no day, so that
-- one odd timestamp never blocks the shipper.
create table request_log (
    node_id           integer not null,
    lane              smallint not null,
    seq               bigint not null,
    id                uuid not null,
    at                timestamptz not null,
    route_id          bigint not null,
    partner_id        bigint not null,
    key_id            bigint not null,
    stage             smallint not null,
    outcome           smallint not null,
    reached           boolean not null,
    status            smallint not null,
    upstream_status   smallint not null,
    cache_miss        smallint not null,
    method            text not null,
    -- Without the query: no value of a query is ever kept.
    path              text not null,
    request_id        text not null,
    address           text not null,
    user_agent        text not null,
    target            text not null,
    bytes_in          bigint not null,
    bytes_out         bigint not null,
    duration_us       bigint not null,
    -- Microseconds per stage, route first.
    stage_us          bigint[] not null check (cardinality(stage_us) = 6),
    tokens_before     double precision,
    tokens_after      double precision,
    -- What the refusal asked the caller to wait, and for an early retry what it had waited.
    retry_asked_ms    bigint,
    retry_waited_ms   bigint,
    metered_locally   boolean not null,
    upstream_calls    smallint not null,
    -- Whether the latency counts: not for upgrades and event streams.
    timed             boolean not null,
    primary key (node_id, lane, seq, at)
) partition by range (at);
create table request_log_default partition of request_log default;
create index request_log_id on request_log (id);
create index request_log_at on request_log (at desc);
create index request_log_partner on request_log (partner_id, at desc);

-- The outcomes side, by everything that a partner's or an operator's screen asks for.
create table rollup_minute (
    node_id      integer not null,
    at           timestamptz not null,
    route_id     bigint not null,
    partner_id   bigint not null,
    key_id       bigint not null,
    stage        smallint not null,
    outcome      smallint not null,
    reached      boolean not null,
    -- First digit of the upstream's status where it was reached (0: no answer), else of Toll's own.
    status_class smallint not null,
    cache_miss   smallint not null,
    requests        bigint not null,
    bytes_in        bigint not null,
    bytes_out       bigint not null,
    upstream_calls  bigint not null,
    metered_locally bigint not null,
    -- Requests by latency: up to 5, 10, 25, 50, 100, 250, 1000, 5000 ms, and above.
    b0 bigint not null, b1 bigint not null, b2 bigint not null, b3 bigint not null, b4 bigint not null,
    b5 bigint not null, b6 bigint not null, b7 bigint not null, b8 bigint not null,
    -- Microseconds spent per stage.
    us_route bigint not null, us_key bigint not null, us_quota bigint not null,
    us_cache bigint not null, us_breaker bigint not null, us_proxy bigint not null,
    primary key (node_id, partner_id, at, route_id, key_id, stage, outcome, reached, status_class, cache_miss)
) with (fillfactor = 70);
create index rollup_minute_partner on rollup_minute (partner_id, at);
create index rollup_minute_at on rollup_minute (at);
create table rollup_hour (
    node_id      integer not null,
    at           timestamptz not null,
    route_id     bigint not null,
    partner_id   bigint not null,
    key_id       bigint not null,
    stage        smallint not null,
    outcome      smallint not null,
    reached      boolean not null,
    -- First digit of the upstream's status where it was reached (0: no answer), else of Toll's own.
    status_class smallint not null,
    cache_miss   smallint not null,
    requests        bigint not null,
    bytes_in        bigint not null,
    bytes_out       bigint not null,
    upstream_calls  bigint not null,
    metered_locally bigint not null,
    -- Requests by latency: up to 5, 10, 25, 50, 100, 250, 1000, 5000 ms, and above.
    b0 bigint not null, b1 bigint not null, b2 bigint not null, b3 bigint not null, b4 bigint not null,
    b5 bigint not null, b6 bigint not null, b7 bigint not null, b8 bigint not null,
    -- Microseconds spent per stage.
    us_route bigint not null, us_key bigint not null, us_quota bigint not null,
    us_cache bigint not null, us_breaker bigint not null, us_proxy bigint not null,
    primary key (node_id, partner_id, at, route_id, key_id, stage, outcome, reached, status_class, cache_miss)
) with (fillfactor = 70);
create index rollup_hour_partner on rollup_hour (partner_id, at);
create index rollup_hour_at on rollup_hour (at);
create table rollup_day (
    node_id      integer not null,
    at           timestamptz not null,
    route_id     bigint not null,
    partner_id   bigint not null,
    key_id       bigint not null,
    stage        smallint not null,
    outcome      smallint not null,
    reached      boolean not null,
    -- First digit of the upstream's status where it was reached (0: no answer), else of Toll's own.
    status_class smallint not null,
    cache_miss   smallint not null,
    requests        bigint not null,
    bytes_in        bigint not null,
    bytes_out       bigint not null,
    upstream_calls  bigint not null,
    metered_locally bigint not null,
    -- Requests by latency: up to 5, 10, 25, 50, 100, 250, 1000, 5000 ms, and above.
    b0 bigint not null, b1 bigint not null, b2 bigint not null, b3 bigint not null, b4 bigint not null,
    b5 bigint not null, b6 bigint not null, b7 bigint not null, b8 bigint not null,
    -- Microseconds spent per stage.
    us_route bigint not null, us_key bigint not null, us_quota bigint not null,
    us_cache bigint not null, us_breaker bigint not null, us_proxy bigint not null,
    primary key (node_id, partner_id, at, route_id, key_id, stage, outcome, reached, status_class, cache_miss)
) with (fillfactor = 70);
create index rollup_day_partner on rollup_day (partner_id, at);
create index rollup_day_at on rollup_day (at);

-- The same without partner, key and cache miss: totals stay flat however many keys there are.
create table total_minute (
    node_id      integer not null,
    at           timestamptz not null,
    route_id     bigint not null,
    stage        smallint not null,
    outcome      smallint not null,
    reached      boolean not null,
    status_class smallint not null,
    requests        bigint not null,
    bytes_in        bigint not null,
    bytes_out       bigint not null,
    upstream_calls  bigint not null,
    metered_locally bigint not null,
    -- Requests by latency: up to 5, 10, 25, 50, 100, 250, 1000, 5000 ms, and above.
    b0 bigint not null, b1 bigint not null, b2 bigint not null, b3 bigint not null, b4 bigint not null,
    b5 bigint not null, b6 bigint not null, b7 bigint not null, b8 bigint not null,
    -- Microseconds spent per stage.
    us_route bigint not null, us_key bigint not null, us_quota bigint not null,
    us_cache bigint not null, us_breaker bigint not null, us_proxy bigint not null,
    primary key (node_id, at, route_id, stage, outcome, reached, status_class)
) with (fillfactor = 70);
create index total_minute_at on total_minute (at);
create table total_hour (
    node_id      integer not null,
    at           timestamptz not null,
    route_id     bigint not null,
    stage        smallint not null,
    outcome      smallint not null,
    reached      boolean not null,
    status_class smallint not null,
    requests        bigint not null,
    bytes_in        bigint not null,
    bytes_out       bigint not null,
    upstream_calls  bigint not null,
    metered_locally bigint not null,
    -- Requests by latency: up to 5, 10, 25, 50, 100, 250, 1000, 5000 ms, and above.
    b0 bigint not null, b1 bigint not null, b2 bigint not null, b3 bigint not null, b4 bigint not null,
    b5 bigint not null, b6 bigint not null, b7 bigint not null, b8 bigint not null,
    -- Microseconds spent per stage.
    us_route bigint not null, us_key bigint not null, us_quota bigint not null,
    us_cache bigint not null, us_breaker bigint not null, us_proxy bigint not null,
    primary key (node_id, at, route_id, stage, outcome, reached, status_class)
) with (fillfactor = 70);
create index total_hour_at on total_hour (at);
create table total_day (
    node_id      integer not null,
    at           timestamptz not null,
    route_id     bigint not null,
    stage        smallint not null,
    outcome      smallint not null,
    reached      boolean not null,
    status_class smallint not null,
    requests        bigint not null,
    bytes_in        bigint not null,
    bytes_out       bigint not null,
    upstream_calls  bigint not null,
    metered_locally bigint not null,
    -- Requests by latency: up to 5, 10, 25, 50, 100, 250, 1000, 5000 ms, and above.
    b0 bigint not null, b1 bigint not null, b2 bigint not null, b3 bigint not null, b4 bigint not null,
    b5 bigint not null, b6 bigint not null, b7 bigint not null, b8 bigint not null,
    -- Microseconds spent per stage.
    us_route bigint not null, us_key bigint not null, us_quota bigint not null,
    us_cache bigint not null, us_breaker bigint not null, us_proxy bigint not null,
    primary key (node_id, at, route_id, stage, outcome, reached, status_class)
) with (fillfactor = 70);
create index total_day_at on total_day (at);
