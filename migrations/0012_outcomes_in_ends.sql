-- Verdicts ask which partners retried early and whose traffic grew: the family that knows partners, and neither keys nor
-- routes, tells it at a cost that keys do not add to, once it knows outcomes. All of it is in the other rollups.
do $$
declare grain text;
begin
    foreach grain in array array['minute', 'hour', 'day'] loop
        execute format('truncate ends_%s', grain);
        execute format('alter table ends_%s add column outcome smallint not null', grain);
        execute format('alter table ends_%s drop constraint ends_%1$s_pkey', grain);
        execute format('alter table ends_%s add primary key (node_id, partner_id, at, stage, outcome, reached)', grain);
        execute format(
            'insert into ends_%s (node_id, at, partner_id, stage, outcome, reached, requests)
             select node_id, at, partner_id, stage, outcome, reached, sum(requests) from rollup_%1$s group by 1, 2, 3, 4, 5, 6',
            grain
        );
        -- Early retries (41) are few among all rows, and none of these columns ever changes in a row.
        execute format('create index ends_%s_early on ends_%1$s (at) where outcome = 41', grain);
    end loop;
end
$$;
