//! A call that waits as it is told, in two languages. Both run as they are, with the whole key in its place.

pub fn javascript(url: &str, key: &str) -> String {
    format!(
        r#"const key = "{key}";

async function call(url) {{
  const response = await fetch(url, {{ headers: {{ "X-Api-Key": key }} }});
  const wait = response.headers.get("Retry-After");
  if (wait === null) return response;
  await new Promise((done) => setTimeout(done, wait * 1000));
  return call(url);
}}

const response = await call("{url}");
console.log(response.status, await response.text());"#
    )
}

pub fn python(url: &str, key: &str) -> String {
    format!(
        r#"import time, urllib.error, urllib.request

KEY = "{key}"

def call(url):
    request = urllib.request.Request(url, headers={{"X-Api-Key": KEY}})
    try:
        return urllib.request.urlopen(request)
    except urllib.error.HTTPError as error:
        if "Retry-After" not in error.headers:
            raise
        time.sleep(int(error.headers["Retry-After"]))
        return call(url)

with call("{url}") as response:
    print(response.status, response.read().decode())"#
    )
}
