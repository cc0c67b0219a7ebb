// What the page asks of its server.

export class Failed extends Error {}

function address(path, given) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(given || {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== "") query.append(key, one);
    }
  }
  const text = query.toString();
  return `/api/${path}${text ? `?${text}` : ""}`;
}

async function fetched(path, given, method = "GET") {
  let answer;
  try {
    answer = await fetch(address(path, given), { method });
  } catch {
    throw new Failed("ragloom ui does not answer any more: start it again");
  }
  if (!answer.ok) {
    const told = await answer.json().catch(() => null);
    throw new Failed(told?.error?.message || `error ${answer.status}`);
  }
  return answer;
}

export const ask = async (path, given) => (await fetched(path, given)).json();
export const send = async (path, given) => (await fetched(path, given, "POST")).json();
export const binary = async (path, given) => {
  const answer = await fetched(path, given);
  return { bytes: await answer.arrayBuffer(), headers: answer.headers };
};
