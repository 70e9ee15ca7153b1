import { sendCall } from "./send-call.ts";

/** Who the page's calls are made as. Unknown if the gateway does not answer, or this listener does not serve users. */
export type PageCaller =
  | { readonly state: "unknown" | "out" }
  | { readonly state: "in"; readonly actor: string; readonly role: string };

/** Asks the gateway for the page's user. Never throws. */
export async function readPageCaller(): Promise<PageCaller> {
  let answer = "";
  try {
    const call = { method: "hostplane.v1.UserService/GetCaller", request: "{}", isStream: false };
    const { error } = await sendCall(call, (json) => {
      answer = json;
    });
    if (error !== undefined) {
      return { state: error.code === "UNAUTHENTICATED" ? "out" : "unknown" };
    }
    const { actor = "", role = "" } = JSON.parse(answer) as {
      readonly actor?: string;
      readonly role?: string;
    };
    return { state: "in", actor, role: role.replace("ROLE_", "").toLowerCase() };
  } catch {
    return { state: "unknown" };
  }
}
