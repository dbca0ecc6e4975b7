-- How each partner's requests ended, by {{grain}}, oldest first.
ends_by_{{grain}} as (
    insert into ends_{{grain}} as known (
        node_id, at, partner_id, at_route, at_key, at_quota, at_cache, at_breaker, at_proxy, reached, spent,
        early, failed
    )
    select
        $1, date_bin('1 {{grain}}', at, timestamptz 'epoch') as start, partner_id,
        coalesce(sum(requests) filter (where not reached and stage = 1), 0),
        coalesce(sum(requests) filter (where not reached and stage = 2), 0),
        coalesce(sum(requests) filter (where not reached and stage = 3), 0),
        coalesce(sum(requests) filter (where not reached and stage = 4), 0),
        coalesce(sum(requests) filter (where not reached and stage = 5), 0),
        coalesce(sum(requests) filter (where not reached and stage = 6), 0),
        coalesce(sum(requests) filter (where reached), 0),
        coalesce(sum(requests) filter (where outcome = {{spent}}), 0),
        coalesce(sum(requests) filter (where outcome = {{early}}), 0),
        coalesce(sum(requests) filter (where reached and status_class = 5 or outcome in ({{faults}})), 0)
    from alike
    where requests > 0
    group by start, partner_id
    order by start, partner_id
    on conflict (node_id, partner_id, at) do update set
        at_route = known.at_route + excluded.at_route, at_key = known.at_key + excluded.at_key,
        at_quota = known.at_quota + excluded.at_quota, at_cache = known.at_cache + excluded.at_cache,
        at_breaker = known.at_breaker + excluded.at_breaker, at_proxy = known.at_proxy + excluded.at_proxy,
        reached = known.reached + excluded.reached, spent = known.spent + excluded.spent,
        early = known.early + excluded.early, failed = known.failed + excluded.failed
),
