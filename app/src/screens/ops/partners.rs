//! The partners of whom most was turned away, and at which stage.

use leptos::prelude::*;

use crate::books::PartnerEnds;
use crate::domain::numbers::grouped;
use crate::domain::stage::Stage;
use crate::widgets::address::Address;
use crate::widgets::mini_funnel::MiniFunnel;
use crate::widgets::table::Table;

/// Before the key is read nobody knows whose request it is, and what the cache answers is served.
const REFUSING: [Stage; 4] = [Stage::Key, Stage::Quota, Stage::Breaker, Stage::Proxy];

#[component]
pub fn Partners(partners: Vec<PartnerEnds>, address: Address) -> impl IntoView {
    let all = address.elsewhere("/ops/partners").href();
    let rows: Vec<_> = partners.into_iter().map(|partner| row(partner, &address)).collect();
    let mut columns = vec![("", "Partner"), ("drawn", "From door to upstream"), ("r", "Arrived")];
    columns.extend(REFUSING.map(|stage| ("r", column(stage))));
    columns.push(("r", "Reached"));
    let none = view! { <p class="hint">"No partner was turned away in this window."</p> };
    view! {
        <section aria-labelledby="partners-title">
            <h2 id="partners-title">
                "Most turned away"<small>"partners by what was stopped, "<a href=all>"all partners"</a></small>
            </h2>
            <Table class="turned-away" columns=columns rows=rows otherwise=none.into_any()/>
        </section>
    }
}

fn column(stage: Stage) -> &'static str {
    match stage {
        Stage::Proxy => "Not sent",
        stage => stage.title(),
    }
}

fn row(partner: PartnerEnds, address: &Address) -> impl IntoView + use<> {
    let PartnerEnds { slug, name, ends } = partner;
    let page = address.elsewhere(&format!("/ops/partners/{slug}")).href();
    let list = address.elsewhere("/ops/requests").with("partner", Some(slug.as_str()));
    let most = REFUSING.into_iter().max_by_key(|stage| ends.at(*stage));
    let cells = REFUSING.map(|stage| {
        let mut behind = list.with("stage", Some(stage.name()));
        if stage == Stage::Proxy {
            behind = behind.with("answer", Some("unsent"));
        }
        let number = match ends.at(stage) {
            0 => view! { <span class="soft">"0"</span> }.into_any(),
            n => view! { <a href=behind.href()>{grouped(n)}</a> }.into_any(),
        };
        let is_most = most == Some(stage);
        view! { <td class="r" class:most=is_most data-label=column(stage)>{number}</td> }
    });
    view! {
        <tr id=format!("partner-{slug}")>
            <th scope="row"><a href=page>{name}</a><span class="why">{slug.clone()}</span></th>
            <td class="drawn"><MiniFunnel ends=ends/></td>
            <td class="r" data-label="Arrived">{grouped(ends.arrived())}</td>
            {cells.into_iter().collect_view()}
            <td class="r" data-label="Reached">{grouped(ends.reached)}</td>
        </tr>
    }
}
