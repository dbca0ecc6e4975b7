-- What verdicts look for, and screens of operators with them, at the same cost however many keys there are.

-- Totals know why the cache missed: whether it earns its keep is asked of all partners at once. What was written before
-- does not know.
alter table total_minute add column cache_miss smallint not null default 0;
alter table total_minute drop constraint total_minute_pkey;
alter table total_minute
    add primary key (node_id, at, route_id, stage, outcome, reached, status_class, cache_miss);
alter table total_hour add column cache_miss smallint not null default 0;
alter table total_hour drop constraint total_hour_pkey;
alter table total_hour
    add primary key (node_id, at, route_id, stage, outcome, reached, status_class, cache_miss);
alter table total_day add column cache_miss smallint not null default 0;
alter table total_day drop constraint total_day_pkey;
alter table total_day
    add primary key (node_id, at, route_id, stage, outcome, reached, status_class, cache_miss);

-- Whose requests ended like this: keys revoked (23) and expired (24), early retries (41), held back by an open (80) or
-- probing (81) breaker. They are few among all rows, and none of these columns ever changes in a row.
create index rollup_minute_telling on rollup_minute (outcome, at) where outcome in (23, 24, 41, 80, 81);
create index rollup_hour_telling on rollup_hour (outcome, at) where outcome in (23, 24, 41, 80, 81);
create index rollup_day_telling on rollup_day (outcome, at) where outcome in (23, 24, 41, 80, 81);

-- Since when a breaker has been open: the end of the outage before is one step away, however often it has probed since.
create index breaker_event_closed on breaker_event (upstream_id, at) where state = 'closed';
create index breaker_event_open on breaker_event (upstream_id, at) where state = 'open';
