-- What each node's health checks have found. Nodes may disagree, and only who checks knows; a check that is not repeated
-- means nothing after a while.
create table target_health (
    node_id     uuid not null,
    upstream_id bigint not null,
    url         text not null,
    healthy     boolean not null,
    since       timestamptz not null,
    checked_at  timestamptz not null,
    primary key (node_id, upstream_id, url)
) with (fillfactor = 70);
