-- One batch of one lane, whole or not at all: log, rollups, totals and door are of the same requests.
-- The node is pinned in every write, so that nodes never wait for each other's rows.
with
-- Exactly once: the mark moves from where this batch begins, and nobody else's does. No row here, and nothing below
-- writes anything. `batch` moves each time, for batches that bring news of the door only.
mine as (
    update lane set shipped = $5, batch = batch + 1
    where node_id = $1 and lane = $2 and batch = $3 and shipped = $4
      and exists (select from node where node.id = $1 and incarnation = $6)
    returning node_id
),
given as (
    select r.* from mine cross join unnest(
        $7::bigint[], $8::uuid[], $9::timestamptz[], $10::bigint[], $11::bigint[], $12::bigint[],
        $13::smallint[], $14::smallint[], $15::boolean[], $16::smallint[], $17::smallint[], $18::smallint[],
        $19::text[], $20::text[], $21::text[], $22::text[], $23::text[], $24::text[],
        $25::bigint[], $26::bigint[], $27::bigint[], $28::smallint[],
        $29::bigint[], $30::bigint[], $31::bigint[], $32::bigint[], $33::bigint[], $34::bigint[],
        $35::double precision[], $36::double precision[], $37::bigint[], $38::bigint[], $39::boolean[],
        $40::boolean[], $41::smallint[], $42::boolean[], $43::smallint[]
    ) as r (
        seq, id, at, route_id, partner_id, key_id,
        stage, outcome, reached, status, upstream_status, cache_miss,
        method, path, request_id, address, user_agent, target,
        bytes_in, bytes_out, duration_us, bucket,
        us_route, us_key, us_quota, us_cache, us_breaker, us_proxy,
        tokens_before, tokens_after, retry_asked_ms, retry_waited_ms, same_again,
        metered_locally, upstream_calls, timed,
        -- 0 for calls that no request waited for: they count as calls, and as nothing else.
        requests
    )
),
-- The line of the log: what a receipt tells.
log as (
    insert into request_log (
        node_id, lane, seq, id, at, route_id, partner_id, key_id, stage, outcome, reached, status, upstream_status,
        cache_miss, method, path, request_id, address, user_agent, target, bytes_in, bytes_out, duration_us, stage_us,
        tokens_before, tokens_after, retry_asked_ms, retry_waited_ms, same_again, metered_locally, upstream_calls, timed
    )
    select
        $1, $2, seq, id, at, route_id, partner_id, key_id, stage, outcome, reached, status, upstream_status,
        cache_miss, method, path, request_id, address, user_agent, target, bytes_in, bytes_out, duration_us,
        array[us_route, us_key, us_quota, us_cache, us_breaker, us_proxy],
        tokens_before, tokens_after, retry_asked_ms, retry_waited_ms, same_again, metered_locally, upstream_calls, timed
    from given where requests > 0
),
-- Requests of one minute that ended alike, so that each row below is touched once.
alike as materialized (
    select
        date_bin('1 minute', at, timestamptz 'epoch') as at,
        route_id, partner_id, key_id, stage, outcome, reached,
        (case when reached then upstream_status else status end / 100)::smallint as status_class,
        cache_miss,
        sum(requests)::bigint as requests,
        sum(bytes_in)::bigint as bytes_in, sum(bytes_out)::bigint as bytes_out,
        sum(upstream_calls)::bigint as upstream_calls,
        count(*) filter (where metered_locally) as metered_locally,
        count(*) filter (where bucket = 0) as b0, count(*) filter (where bucket = 1) as b1,
        count(*) filter (where bucket = 2) as b2, count(*) filter (where bucket = 3) as b3,
        count(*) filter (where bucket = 4) as b4, count(*) filter (where bucket = 5) as b5,
        count(*) filter (where bucket = 6) as b6, count(*) filter (where bucket = 7) as b7,
        count(*) filter (where bucket = 8) as b8,
        sum(us_route)::bigint as us_route, sum(us_key)::bigint as us_key, sum(us_quota)::bigint as us_quota,
        sum(us_cache)::bigint as us_cache, sum(us_breaker)::bigint as us_breaker, sum(us_proxy)::bigint as us_proxy
    from given
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9
),
{{rollups}}
-- The door says absolute numbers by minute; hours and days get the difference from what it said before, which only this
-- lane's shipper writes. A door that was lost with its file never takes back what it had counted.
door as materialized (
    select d.at, greatest(d.arrived, coalesce(before.arrived, 0)) as arrived, d.open,
        coalesce(before.arrived, 0) as arrived_before, coalesce(before.open, 0) as open_before
    from mine
    cross join unnest($44::timestamptz[], $45::bigint[], $46::bigint[]) as d (at, arrived, open)
    left join door_minute as before on before.node_id = $1 and before.lane = $2 and before.at = d.at
),
door_by_minute as (
    insert into door_minute (node_id, lane, at, arrived, open)
    select $1, $2, at, arrived, open from door order by at
    on conflict (node_id, lane, at) do update set arrived = excluded.arrived, open = excluded.open
),
door_by_hour as (
    insert into door_hour as known (node_id, lane, at, arrived, open)
    select $1, $2, date_bin('1 hour', at, timestamptz 'epoch') as hour,
        sum(arrived - arrived_before), sum(open - open_before)
    from door group by hour order by hour
    on conflict (node_id, lane, at)
    do update set arrived = known.arrived + excluded.arrived, open = known.open + excluded.open
),
door_by_day as (
    insert into door_day as known (node_id, lane, at, arrived, open)
    select $1, $2, date_bin('1 day', at, timestamptz 'epoch') as day,
        sum(arrived - arrived_before), sum(open - open_before)
    from door group by day order by day
    on conflict (node_id, lane, at)
    do update set arrived = known.arrived + excluded.arrived, open = known.open + excluded.open
)
select count(*) from mine
