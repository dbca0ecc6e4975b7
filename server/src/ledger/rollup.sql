-- {{family}} by {{grain}}, oldest first: what is read together lies together, also when a batch makes up for hours.
{{family}}_by_{{grain}} as (
    insert into {{family}}_{{grain}} as known (
        node_id, at, {{keys}}, requests, bytes_in, bytes_out, upstream_calls, metered_locally,
        b0, b1, b2, b3, b4, b5, b6, b7, b8, us_route, us_key, us_quota, us_cache, us_breaker, us_proxy
    )
    select
        $1, date_bin('1 {{grain}}', at, timestamptz 'epoch') as start, {{keys}},
        sum(requests), sum(bytes_in), sum(bytes_out), sum(upstream_calls), sum(metered_locally),
        sum(b0), sum(b1), sum(b2), sum(b3), sum(b4), sum(b5), sum(b6), sum(b7), sum(b8),
        sum(us_route), sum(us_key), sum(us_quota), sum(us_cache), sum(us_breaker), sum(us_proxy)
    from alike
    group by start, {{keys}}
    order by start, {{keys}}
    on conflict (node_id, at, {{keys}}) do update set
        requests = known.requests + excluded.requests,
        bytes_in = known.bytes_in + excluded.bytes_in,
        bytes_out = known.bytes_out + excluded.bytes_out,
        upstream_calls = known.upstream_calls + excluded.upstream_calls,
        metered_locally = known.metered_locally + excluded.metered_locally,
        b0 = known.b0 + excluded.b0, b1 = known.b1 + excluded.b1, b2 = known.b2 + excluded.b2,
        b3 = known.b3 + excluded.b3, b4 = known.b4 + excluded.b4, b5 = known.b5 + excluded.b5,
        b6 = known.b6 + excluded.b6, b7 = known.b7 + excluded.b7, b8 = known.b8 + excluded.b8,
        us_route = known.us_route + excluded.us_route, us_key = known.us_key + excluded.us_key,
        us_quota = known.us_quota + excluded.us_quota, us_cache = known.us_cache + excluded.us_cache,
        us_breaker = known.us_breaker + excluded.us_breaker, us_proxy = known.us_proxy + excluded.us_proxy
),
