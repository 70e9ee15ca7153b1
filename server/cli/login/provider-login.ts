import { setTimeout as wait } from "node:timers/promises";
import { durationMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { describeError } from "../../../client/describe-error.ts";
import { LoginService } from "../../../gen/hostplane/v1/login_pb.ts";
import type { Output } from "../table/output.ts";
import { printableLine } from "../table/printable-line.ts";
import type { Session } from "../table/session.ts";
import type { RemoteContext } from "../target/contexts.ts";
import { openRemoteSession } from "../target/remote-gateway.ts";
import { ask } from "../terminal.ts";

type Access = Pick<RemoteContext, "url" | "pin">;

/** Asks how to log in, if the gateway has identity providers. @returns the name of a provider; undefined for a password */
export async function chooseProvider(access: Access): Promise<string | undefined> {
  const providers = await withSession(access, listProviders);
  if (providers.length === 0) {
    return undefined;
  }
  const lines = ["password", ...providers.map(({ title }) => title)].map(
    (text, at) => `  ${at}: ${printableLine(text)}\n`,
  );
  process.stderr.write(`Log in with\n${lines.join("")}`);
  const answer = await ask("Number [1]: ");
  if (answer === "0") {
    return undefined;
  }
  const chosen = providers[answer === "" ? 0 : Number(answer) - 1];
  if (chosen === undefined) {
    throw new Error(`expected a number from 0 to ${providers.length}, got "${answer}"`);
  }
  return chosen.name;
}

/** Logs in by an identity provider: shows the page to open in a browser, and waits for its confirmation. @returns the token */
export function providerLogin(access: Access, provider: string, output: Output): Promise<string> {
  return withSession(access, async (session) => {
    const { message: begun } = await session.call(LoginService.method.beginDeviceLogin, { provider });
    const { verificationUri, verificationUriComplete, userCode, loginHandle, interval, expiresAt } = begun;
    const page = verificationUriComplete || verificationUri;
    output.err(printableLine(`open ${page} in a browser and confirm the code ${userCode}`));
    const intervalMs = interval === undefined ? defaultIntervalMs : durationMs(interval);
    const expiresAtMs = expiresAt === undefined ? Date.now() : timestampMs(expiresAt);
    return pollToken(session, loginHandle, { intervalMs, expiresAtMs });
  });
}

/** RFC 8628, 3.2. */
const defaultIntervalMs = 5_000;

async function pollToken(
  session: Session,
  loginHandle: string,
  { intervalMs, expiresAtMs }: { readonly intervalMs: number; readonly expiresAtMs: number },
): Promise<string> {
  let waitMs = intervalMs;
  for (;;) {
    await wait(waitMs);
    try {
      const { message } = await session.call(LoginService.method.finishDeviceLogin, { loginHandle });
      return message.token;
    } catch (error) {
      const { retryable, retryAfterMs } = describeError(error);
      if (!retryable || Date.now() >= expiresAtMs) {
        throw error;
      }
      waitMs = Math.max(intervalMs, retryAfterMs ?? 0);
    }
  }
}

/** Gateways of earlier versions have no identity providers. */
async function listProviders(session: Session) {
  try {
    return (await session.call(LoginService.method.listProviders, {})).message.providers;
  } catch (error) {
    if (error instanceof ConnectError && error.code === Code.Unimplemented) {
      return [];
    }
    throw error;
  }
}

async function withSession<T>(access: Access, task: (session: Session) => Promise<T>): Promise<T> {
  const { session, close } = await openRemoteSession(access);
  try {
    return await task(session);
  } finally {
    close();
  }
}
