//! `/ops/partners/<slug>`: what a partner sends, who it is, and what can be done about it.

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

use super::acts::{Keys, PlanAndAccess};
use super::api::{Details, change_plan, ops_partner, ops_revoke_key, suspend_partner};
use crate::domain::funnel::Funnel;
use crate::error::Error;
use crate::people::{OneTimeLink, Team};
use crate::posted::{Draft, Posted};
use crate::screens::screen::Screen;
use crate::screens::team;
use crate::screens::traffic::Traffic;
use crate::widgets::address::Address;
use crate::widgets::books::Books;
use crate::widgets::by_route::ByRoute;
use crate::widgets::field::Problem;
use crate::widgets::funnel_chart::FunnelChart;
use crate::widgets::headline::headline;
use crate::widgets::histogram::LatencyHistogram;
use crate::widgets::quota_now::QuotaNow;
use crate::widgets::refusals::{Refusals, refused};
use crate::widgets::team::{Deeds, HandedOut, InviteForm, Members};
use crate::widgets::traffic_chart::TrafficChart;
use crate::widgets::verdicts::Verdicts;

/// The partner, and what came of the form that this is the answer to.
struct Shown {
    details: Details,
    link: Option<OneTimeLink>,
    draft: Draft,
}

#[component]
pub fn OnePartner() -> impl IntoView {
    let slug = use_params_map().get_untracked().get("slug").unwrap_or_default();
    let address = Address::current();
    let (posted, span) = (Posted::current(), address.span().to_string());
    let asked = slug.clone();
    let fetch = async move {
        let shown = shown(posted, span, asked).await?;
        Ok((Some(shown.details.traffic.funnel.window()), shown))
    };
    Screen::new(slug, "/ops/partners").show(fetch, |shown, viewer| {
        let me = viewer.email.clone();
        view! { <Page shown=shown address=address me=me/> }.into_any()
    })
}

async fn shown(posted: Option<Posted>, span: String, slug: String) -> Result<Shown, Error> {
    let (link, draft) = match posted {
        None => Default::default(),
        Some(form) => {
            let done = act(&form, &slug).await;
            form.outcome(done)?
        }
    };
    Ok(Shown { details: ops_partner(span, slug).await?, link, draft })
}

/// All but links lead back to the page, so that nothing is done twice.
async fn act(form: &Posted, slug: &str) -> Result<Option<OneTimeLink>, Error> {
    let slug = slug.to_owned();
    match form.get("act").as_str() {
        "plan" => change_plan(slug, form.get("plan")).await.map(|()| None),
        "suspend" => suspend_partner(slug, true).await.map(|()| None),
        "resume" => suspend_partner(slug, false).await.map(|()| None),
        "revoke" => {
            let key = form.get("key").parse().map_err(|_| Error::Invalid("No key was named.".into()))?;
            ops_revoke_key(slug, key).await.map(|()| None)
        }
        _ => team::act(form, Some(slug)).await,
    }
}

#[component]
fn Page(shown: Shown, address: Address, me: String) -> impl IntoView {
    let Shown { details, link, draft: Draft { typed, problem } } = shown;
    let Details { partner, verdicts, traffic, routes, quota, team, keys, allowance, plans, now } = details;
    let Traffic { funnel, over_time, bands, .. } = traffic;
    let list = address.elsewhere("/ops/requests").with("partner", Some(partner.slug.as_str()));
    let (slug, is_empty) = (partner.slug.clone(), funnel.arrived == 0);
    view! {
        {link.map(|link| view! { <HandedOut link=link/> })}
        <Problem text=problem/>
        {partner.suspended.then(|| view! {
            <p class="problem">"Suspended: all its requests are refused, until you let it in again."</p>
        })}
        <Verdicts verdicts=verdicts otherwise=unjudged(&funnel)/>
        {quota.map(|quota| view! { <QuotaNow quota=quota title="Its quota now"/> })}
        <section aria-labelledby="books-title">
            <h2 id="books-title">"The books"</h2>
            <Books funnel=funnel.clone() behind=list.clone()/>
        </section>
        <Refusals funnel=funnel.clone() behind=list.clone() is_ops=true/>
        // Of nothing there is nothing to draw.
        {(!is_empty).then(|| view! {
            <section><TrafficChart traffic=over_time bands=bands behind=list.clone()/></section>
        })}
        <PlanAndAccess partner=partner plans=plans/>
        <Keys keys=keys allowance=allowance slug=slug.clone() now=now/>
        <People team=team slug=slug me=me typed=typed/>
        {(!is_empty).then(|| view! {
            <section class="two">
                <FunnelChart funnel=funnel.clone() behind=list.clone()/>
                <LatencyHistogram latency=funnel.latency.clone() behind=list.clone()/>
            </section>
        })}
        <ByRoute routes=routes behind=list/>
    }
}

/// Where the numbers bear no verdict. Few that were refused are no all-clear.
fn unjudged(funnel: &Funnel) -> String {
    let lead = match refused(funnel).is_empty() {
        true => "Nobody must act.",
        false => "What was refused, why, and who must act is told below.",
    };
    format!("{lead} {}", headline(funnel))
}

/// Who signs in for the partner, and links for them.
#[component]
fn People(
    team: Team,
    slug: String,
    me: String,
    /// Of a form that was refused.
    typed: Posted,
) -> impl IntoView {
    let is_again = typed.get("act") == "invite";
    let email = if is_again { typed.get("email") } else { String::new() };
    let here = format!("/ops/partners/{slug}");
    let keys = "Keys go on: revoke those that they should not know.";
    let deeds = Deeds { here: here.clone(), me, resets: true, keys };
    view! {
        <section aria-labelledby="people-title">
            <h2 id="people-title">"People"</h2>
            <Members team=team deeds=deeds otherwise="Nobody signs in for this partner yet."/>
            <details class="ask below" open=is_again>
                <summary>"Invite a person"</summary>
                <InviteForm here=here email=email problem=None/>
            </details>
        </section>
    }
}
