// The page talks to its own server alone, which does everything else.

// Refused is an answer that is not a result: what is wrong, what to do, and findings if there are any.
export class Refused extends Error {
  constructor({ detail, hint = "", findings = [] }) {
    super(detail);
    this.hint = hint;
    this.findings = findings;
  }
}

const gone = {
  detail: "The studio does not answer.",
  hint: "See in the terminal whether signpost studio is still running.",
};

// call asks the server. With a body it is a POST.
export async function call(path, body) {
  const request = body === undefined ? {} : {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  let response, result;
  try {
    response = await fetch(path, request);
    result = await response.json();
  } catch {
    throw new Refused(gone);
  }
  if (!response.ok) throw new Refused(result);
  return result;
}
