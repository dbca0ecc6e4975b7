-- $1 id, $2 and $3 the time around it, $4 whose it must be (null: anybody's). Always one row; without an id if there is none.
with found as (
    select * from request_log where id = $1 and at >= $2 and at <= $3 limit 1
)
select now() as now, found.*,
    (select count(*) from found) > 0 and found.id is null as is_anothers,
    partner.slug as partner, route.name as route, route.access = 'public' as is_public, route.methods, route.body_limit,
    upstream.timeout_ms, upstream.breaker_failures, upstream.breaker_window_ms, upstream.breaker_open_ms,
    opened.at as opened_at, opened.is_by_hand,
    api_key.name as key, api_key.start, api_key.routes as key_routes, api_key.expires_at, api_key.revoked_at,
    plan.name as plan,
    coalesce(plan_then.capacity, plan.capacity) as capacity,
    coalesce(plan_then.refill_per_second, plan.refill_per_second) as refill_per_second
from (select 1) as always
left join found on $4::bigint is null or found.partner_id = $4
left join partner on partner.id = found.partner_id
-- As they were then: what the first change that came after tells of the time before it.
left join lateral (
    select before ->> 'plan' as name from change
    where what = 'partner' and name = partner.slug and at > found.at and before ? 'plan' order by id limit 1
) as changed on true
left join plan on case when changed.name is null then plan.id = partner.plan_id else plan.name = changed.name end
left join lateral (
    select (select (before ->> 'capacity')::int from change
            where what = 'plan' and name = plan.name and at > found.at and before ? 'capacity' order by id limit 1) as capacity,
        (select (before ->> 'refill_per_second')::float8 from change
            where what = 'plan' and name = plan.name and at > found.at and before ? 'refill_per_second' order by id limit 1)
            as refill_per_second
) as plan_then on true
left join route on route.id = found.route_id
left join upstream on upstream.id = route.upstream_id
-- What held it back (80: breaker open).
left join lateral (
    select e.at, last.by_hand as is_by_hand
    from (select found.at + make_interval(secs => found.duration_us / 1e6) as ended) as request
    -- However often it was tried in between, it had been open since the first opening after the last closing.
    cross join lateral (
        select coalesce(max(at), '-infinity') as at from breaker_event
        where upstream_id = upstream.id and state = 'closed' and at <= request.ended
    ) as closed
    cross join lateral (
        select at, by_hand from breaker_event
        where upstream_id = upstream.id and state = 'open' and at <= request.ended order by at desc limit 1
    ) as last
    join breaker_event as e on e.upstream_id = upstream.id and e.state = 'open' and e.at > closed.at
    where found.outcome = 80
    order by e.at limit 1
) as opened on true
left join api_key on api_key.id = found.key_id
