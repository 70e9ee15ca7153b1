import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";

const root = join(import.meta.dirname, "../..");

/** Returns the content security policy that the file sets, which allows scripts. */
function policyOf(file: string): string | undefined {
  return /default-src 'none'; script-src [^"`]*/.exec(readFileSync(join(root, file), "utf8"))?.[0];
}

test("`npm run dev` serves the dashboard with the gateway's content security policy, and a nonce", async (t) => {
  const ofGateway = policyOf("server/web/security-headers.ts");
  t.type(ofGateway, "string");
  t.equal(policyOf("dev.ts")?.replaceAll(" 'nonce-$" + "{nonce}'", ""), ofGateway);
});
