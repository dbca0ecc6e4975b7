-- How each partner's requests ended, by {{grain}}, rows in the order of their key.
ends_by_{{grain}} as (
    insert into ends_{{grain}} as known (node_id, at, partner_id, stage, outcome, reached, requests)
    select
        $1, date_bin('1 {{grain}}', at, timestamptz 'epoch') as start, partner_id, stage, outcome, reached,
        sum(requests)
    from alike
    group by partner_id, start, stage, outcome, reached
    order by partner_id, start, stage, outcome, reached
    on conflict (node_id, partner_id, at, stage, outcome, reached)
    do update set requests = known.requests + excluded.requests
),
