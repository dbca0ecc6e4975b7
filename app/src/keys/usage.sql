-- $1 partner, $2 keys a page, $3 keys before it, $4 days of the sparkline, today included.
with page as (
    select api_key.id, slug, api_key.name, start, routes, api_key.created_at, expires_at, revoked_at, now() as now,
        coalesce(least(expires_at, revoked_at) <= now(), false) as is_over, count(*) over () as total
    from api_key join partner on partner.id = partner_id
    where partner_id = $1 and retired_at is null
    order by is_over, api_key.id desc
    limit $2 offset $3
),
-- To the minute only for what is fresh: minutes are many, and kept by partner.
fresh as (
    select key_id, max(at) as at
    from rollup_minute
    where partner_id = $1 and at >= now() - interval '10 minutes'
    group by key_id
)
select page.*, coalesce(used.ages, '{}') as ages, coalesce(used.ends, '{}') as ends,
    coalesce(used.requests, '{}') as requests, fresh.at as minute, hour.at as hour, day.at as day
from page
-- Each day on which the key was called, by where its requests ended; 7 is the upstream.
cross join lateral (
    select array_agg(age) as ages, array_agg("end") as ends, array_agg(requests) as requests
    from (
        select (now() at time zone 'utc')::date - (at at time zone 'utc')::date as age,
            case when reached then 7::smallint else stage end as "end", sum(requests)::bigint as requests
        from rollup_day
        where partner_id = $1 and key_id = page.id
            and at >= date_trunc('day', now(), 'utc') - make_interval(days => $4 - 1)
        group by 1, 2
    ) as daily
) as used
left join fresh on fresh.key_id = page.id
cross join lateral (select max(at) as at from rollup_hour where partner_id = $1 and key_id = page.id) as hour
cross join lateral (select max(at) as at from rollup_day where partner_id = $1 and key_id = page.id) as day
order by page.is_over, page.id desc
