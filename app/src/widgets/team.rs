//! Those who sign in together: a list of them with what can be done, a form to invite one more, and the link that comes of it.

use leptos::prelude::*;

use super::field::{Field, Problem};
use super::table::Table;
use crate::domain::moment::{date, until};
use crate::domain::numbers::count;
use crate::islands::secret::Secret;
use crate::people::{INVITATION_HOURS, OneTimeLink, Person, Team};
use crate::posted::Draft;

/// Where a list's forms go, and what may be done with it.
#[derive(Clone)]
pub struct Deeds {
    /// The page, which answers them.
    pub here: String,
    /// The address of whoever looks: nobody removes themselves.
    pub me: String,
    /// Whether links for lost passwords are handed out here.
    pub resets: bool,
    /// What becomes of the keys of whoever is removed; empty where there are none.
    pub keys: &'static str,
}

/// A team, and what came of the form that the page is the answer to.
pub struct Asked {
    pub team: Team,
    pub link: Option<OneTimeLink>,
    pub draft: Draft,
}

/// All of a page that is about a team and nothing else.
#[component]
pub fn TeamPage(
    asked: Asked,
    deeds: Deeds,
    /// What they are called: "Colleagues".
    title: &'static str,
    /// "Invite a colleague".
    invite: &'static str,
    /// Below the list.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    let Asked { team, link, draft } = asked;
    let here = deeds.here.clone();
    let (to_members, to_form) = draft.apart("invite");
    view! {
        {link.map(|link| view! { <HandedOut link=link/> })}
        <Problem text=to_members/>
        <section aria-labelledby="people-title">
            <h2 id="people-title">{title}</h2>
            <Members team=team deeds=deeds/>
            {children.map(|children| children())}
        </section>
        <section aria-labelledby="invite-title" class="narrow">
            <h2 id="invite-title">{invite}</h2>
            <InviteForm here=here email=to_form.typed.get("email") problem=to_form.problem/>
        </section>
    }
}

#[component]
pub fn Members(
    team: Team,
    deeds: Deeds,
    /// What is said in place of a list without rows.
    #[prop(optional)]
    otherwise: &'static str,
) -> impl IntoView {
    let Team { people, invited, now } = team;
    let here = deeds.here.clone();
    let guest = move |Person { email, at }: Person| {
        view! {
            <tr>
                <th scope="row">{email.clone()}</th>
                <td><span class="tag">{format!("invited, link ends {}", until(at, now))}</span></td>
                <td class="r">
                    <form method="post" action=here.clone()>
                        <Act act="withdraw" email=email.clone()/>
                        <button class="quiet small">"Withdraw"<span class="visually-hidden">{format!(" the invitation of {email}")}</span></button>
                    </form>
                </td>
            </tr>
        }
        .into_any()
    };
    let people = people.into_iter().map(|person| member(person, &deeds).into_any());
    let rows: Vec<_> = people.chain(invited.into_iter().map(guest)).collect();
    let columns = vec![("", "E-mail"), ("", "Account"), ("unseen", "What to do")];
    let none = view! { <p class="hint">{otherwise}</p> };
    view! { <Table class="people" columns=columns rows=rows otherwise=none.into_any()/> }
}

fn member(person: Person, deeds: &Deeds) -> impl IntoView + use<> {
    let Person { email, at } = person;
    let is_me = email == deeds.me;
    let acts = match is_me {
        true => view! { <a href="/account">"Account"</a> }.into_any(),
        false => acts(&email, deeds).into_any(),
    };
    view! {
        <tr>
            <th scope="row">{email}{is_me.then(|| view! { " "<span class="tag">"you"</span> })}</th>
            <td>{format!("since {}", date(at))}</td>
            <td class="r"><div class="deeds">{acts}</div></td>
        </tr>
    }
}

fn acts(email: &str, deeds: &Deeds) -> impl IntoView + use<> {
    let (email, Deeds { here, resets, keys, .. }) = (email.to_owned(), deeds.clone());
    let reset = resets.then(|| {
        view! {
            <form method="post" action=here.clone()>
                <Act act="reset" email=email.clone()/>
                <button class="quiet small">"Password link"<span class="visually-hidden">{format!(" for {email}")}</span></button>
            </form>
        }
    });
    view! {
        {reset}
        <details class="ask">
            <summary>"Remove"<span class="visually-hidden">{format!(" {email}")}</span></summary>
            <form method="post" action=here>
                <Act act="remove" email=email.clone()/>
                <p>
                    "Signs them out everywhere at once. Links that they have, or have handed out, open nothing any more. What they did stays written down. "
                    {keys}
                </p>
                <button class="danger">{format!("Remove {email}")}</button>
            </form>
        </details>
    }
}

/// What a form does, and to whom.
#[component]
fn Act(act: &'static str, email: String) -> impl IntoView {
    view! {
        <input type="hidden" name="act" value=act/>
        <input type="hidden" name="email" value=email/>
    }
}

#[component]
pub fn InviteForm(
    here: String,
    /// What was typed, where that was refused.
    email: String,
    problem: Option<String>,
) -> impl IntoView {
    view! {
        <form method="post" action=here>
            <input type="hidden" name="act" value="invite"/>
            <Field name="email" label="E-mail" kind="email" autocomplete="off" value=email
                hint=format!("You get a link to hand on. It works once, within {INVITATION_HOURS} hours.")/>
            <Problem text=problem/>
            <button>"Make a link"</button>
        </form>
    }
}

/// A link, this once.
#[component]
pub fn HandedOut(link: OneTimeLink) -> impl IntoView {
    let OneTimeLink { email, link, hours } = link;
    let within = count(hours.unsigned_abs().into(), "hour");
    view! {
        <section class="sheet" aria-labelledby="link-title">
            <h2 id="link-title">{format!("A link for {email}")}</h2>
            <p class="soft">{format!("This is the only time that it is shown. It works once, within {within}; whoever holds it sets the password.")}</p>
            <Secret text=link name="link".to_owned() before=String::new() after=String::new()/>
        </section>
    }
}
