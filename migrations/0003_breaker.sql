-- A row an upstream, shared by all nodes. Who gets a row back from the conditional update made the transition.
create table breaker (
    upstream_id bigint primary key,
    state       text not null default 'closed' check (state in ('closed', 'open', 'half_open')),
    -- Counted up at each transition: results of calls that began under an older one are void.
    generation  bigint not null default 1,
    -- Failures within the window, newest last; never longer than the threshold.
    failures    timestamptz[] not null default '{}',
    opened_at   timestamptz,
    -- The one probe of half-open, and until when it may stay silent.
    probe       uuid,
    lease_until timestamptz,
    check ((state = 'half_open') = (probe is not null and lease_until is not null)),
    check (state = 'closed' or opened_at is not null)
);

create table breaker_event (
    id          bigint generated always as identity,
    upstream_id bigint not null,
    at          timestamptz not null default now(),
    state       text not null,
    generation  bigint not null,
    reason      text not null,
    node_id     uuid,
    primary key (upstream_id, id)
);
create index breaker_event_at on breaker_event (upstream_id, at);
