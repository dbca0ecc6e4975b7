-- One row for a partner and a time instead of one for each way to end: screens with many partners read a seventh of the rows,
-- and a batch writes as few. Outcomes are gone from here but for those that verdicts ask for. All of it is in `rollup`.
do $$
declare grain text;
begin
    foreach grain in array array['minute', 'hour', 'day'] loop
        execute format('drop table ends_%s', grain);
        execute format(
            'create table ends_%s (
                 node_id    integer not null,
                 at         timestamptz not null,
                 -- 0: nobody''s.
                 partner_id bigint not null,
                 -- Ended by a stage, unless they had reached the upstream.
                 at_route   bigint not null,
                 at_key     bigint not null,
                 at_quota   bigint not null,
                 at_cache   bigint not null,
                 at_breaker bigint not null,
                 at_proxy   bigint not null,
                 reached    bigint not null,
                 -- Parts of at_quota: refused as first attempts, and retried before their time.
                 spent      bigint not null,
                 early      bigint not null,
                 -- Parts of at_proxy, at_breaker and reached: not answered by the upstream''s fault, or with 5xx.
                 failed     bigint not null,
                 requests   bigint not null generated always as
                     (at_route + at_key + at_quota + at_cache + at_breaker + at_proxy + reached) stored,
                 primary key (node_id, partner_id, at)
             ) with (fillfactor = 70)',
            grain
        );
        execute format(
            'insert into ends_%s
             select node_id, at, partner_id,
                 coalesce(sum(requests) filter (where not reached and stage = 1), 0),
                 coalesce(sum(requests) filter (where not reached and stage = 2), 0),
                 coalesce(sum(requests) filter (where not reached and stage = 3), 0),
                 coalesce(sum(requests) filter (where not reached and stage = 4), 0),
                 coalesce(sum(requests) filter (where not reached and stage = 5), 0),
                 coalesce(sum(requests) filter (where not reached and stage = 6), 0),
                 coalesce(sum(requests) filter (where reached), 0),
                 coalesce(sum(requests) filter (where outcome = 40), 0),
                 coalesce(sum(requests) filter (where outcome = 41), 0),
                 coalesce(sum(requests) filter (where reached and status_class = 5 or outcome in (101, 105, 106)), 0)
             from rollup_%1$s where requests > 0 group by 1, 2, 3 order by at',
            grain
        );
        execute format('create index ends_%s_at on ends_%1$s (at)', grain);
        execute format('create index ends_%s_partner on ends_%1$s (partner_id, at)', grain);
    end loop;
end
$$;
