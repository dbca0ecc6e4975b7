-- Refill, spend and label for everybody who is waiting, in one statement on the database's clock.
--
-- $1 partner, $2 capacity, $3 refill per second, $4 key, $5 address, $6 seconds since the client decided to send it,
-- $7 whether it overlaps with others of its caller; first come first.
with ask as (
    select a.partner_id, a.capacity, a.refill, a.key_id, a.address, a.crowded, a.position,
           statement_timestamp() - make_interval(secs => a.ago) as came_at
    from unnest($1::bigint[], $2::float8[], $3::float8[], $4::bigint[], $5::text[], $6::float8[], $7::boolean[])
         with ordinality as a (partner_id, capacity, refill, key_id, address, ago, crowded, position)
),
wanted as (
    select partner_id, max(capacity) as capacity, max(refill) as refill, count(*) as wanted
    from ask
    group by partner_id
),
-- Buckets are locked in id order, so that statements of several nodes cannot deadlock. After a wait for the lock the
-- values here are the newest; a CTE that nothing referred to would not run at all.
locked as (
    select b.partner_id, b.tokens, b.refilled_at, w.capacity, w.refill, w.wanted
    from bucket b
    join wanted w on w.partner_id = b.partner_id
    order by b.partner_id
    for update of b
),
-- This statement may have begun before the one it waited for: time never runs backwards, it stands still. The epsilon
-- keeps 0.1 + 0.2 from costing a token.
refilled as (
    select l.partner_id, l.capacity, l.refill, now.level,
           least(l.wanted, floor(now.level + 1e-9))::integer as granted
    from locked l
    cross join lateral (
        select least(l.capacity, l.tokens + l.refill
            * greatest(0, extract(epoch from statement_timestamp() - l.refilled_at)::float8)) as level
    ) now
),
spent as (
    update bucket b
    set level = r.level,
        granted = r.granted,
        tokens = greatest(0, r.level - r.granted),
        refilled_at = greatest(b.refilled_at, statement_timestamp())
    from refilled r
    where b.partner_id = r.partner_id
    returning b.partner_id, b.level, b.granted, b.tokens, r.capacity, r.refill
),
-- First come first served: so many as there were whole tokens, not one more.
placed as (
    select a.position, a.partner_id, a.key_id, a.address, a.crowded, a.came_at, s.level, s.granted, s.tokens,
           row_number() over (partition by a.partner_id order by a.position) as place,
           case when s.capacity < 1 or s.refill <= 0 then 86400
                else least(86400, greatest(1, ceil((1 - s.tokens) / s.refill)))
           end::bigint as retry_after
    from ask a
    join spent s on s.partner_id = a.partner_id
),
-- An early retry came after a refusal had been answered and before its time was over. That only labels the refusal. One of
-- a crowd is taken for a retry only when the crowd has been refused for longer than any burst of first attempts lasts.
refused as (
    select p.position, p.partner_id, p.key_id, p.address, p.retry_after, r.since, r.until,
           case
               when r.until is null or p.came_at >= r.until then null
               when p.came_at > r.since + case when p.crowded then interval '3 seconds' else interval '0' end
                   then greatest(0, extract(epoch from p.came_at - r.refused_at) * 1000)::bigint
           end as early_after_ms
    from placed p
    left join refusal r on r.partner_id = p.partner_id and r.key_id = p.key_id and r.address = p.address
    where p.place > p.granted
),
noted as (
    insert into refusal as r (partner_id, key_id, address, since, refused_at, until)
    select partner_id, key_id, address, statement_timestamp(), statement_timestamp(),
           statement_timestamp() + make_interval(secs => max(retry_after))
    from refused
    group by partner_id, key_id, address
    order by partner_id, key_id, address
    on conflict (partner_id, key_id, address) do update
    set since = case when r.until > excluded.refused_at then r.since else excluded.since end,
        refused_at = excluded.refused_at,
        until = excluded.until
)
select p.position, p.place <= p.granted as granted,
       greatest(0, p.level - least(p.place - 1, p.granted)) as tokens_before,
       greatest(0, p.level - least(p.place, p.granted)) as tokens_after,
       p.retry_after, r.early_after_ms
from placed p
left join refused r on r.position = p.position
