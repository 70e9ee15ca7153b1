import { Credential, UserService } from "../../../gen/hostplane/v1/user_pb.ts";
import { AuthService } from "../../../gen/services/auth/auth_pb.ts";
import { messageFromError } from "../../domain/message-from-error.ts";
import type { ExitCode, Output } from "../table/output.ts";
import { readSecret } from "../table/read-password.ts";
import { UsageError } from "../table/usage-error.ts";
import { parseFingerprint, seeCertificate } from "../target/certificate-pin.ts";
import {
  contextNamed,
  contextsFile,
  type RemoteContext,
  readContexts,
  writeContexts,
} from "../target/contexts.ts";
import { openRemoteSession, parseGatewayUrl } from "../target/remote-gateway.ts";
import { explainFailure, localContext } from "../target/with-session.ts";
import { ask, canAsk, confirms } from "../terminal.ts";
import { chooseProvider, providerLogin } from "./provider-login.ts";

export interface LoginOptions {
  readonly name?: string;
  readonly user?: string;
  /** Name of the identity provider to log in by. */
  readonly provider?: string;
  /** Use an API token in place of user and password. */
  readonly token?: boolean;
  readonly pin?: string;
  readonly insecure?: boolean;
}

/**
 * Logs in to a remote gateway and makes it the current context. The password or token is asked for, or read from stdin: never
 * an argument, since every user of the host can read those.
 */
export async function logIn(urlText: string, options: LoginOptions, output: Output): Promise<ExitCode> {
  let access: Pick<RemoteContext, "url" | "pin"> | undefined;
  try {
    const url = parseGatewayUrl(urlText, options.insecure === true);
    const name = options.name ?? url.host;
    if (name === localContext || !/^[\w.:[\]-]+$/.test(name)) {
      throw new UsageError(`"${name}" cannot be the name of a context: give one with --name`);
    }
    const pin = await acceptedPin(url, options.pin);
    access = { url: url.href.replace(/\/$/, ""), ...(pin === undefined ? {} : { pin }) };
    const token = await tokenFor(access, options, output);
    const { actor, isLogin } = await callerOf({ ...access, token });
    const file = contextsFile();
    const { contexts } = await readContexts(file);
    const context = { ...access, actor, token, isLogin };
    await writeContexts(file, { current: name, contexts: { ...contexts, [name]: context } });
    output.out(`logged in to ${access.url} as ${actor}; commands now use the context ${name}`);
    return 0;
  } catch (error) {
    return explainFailure(error, access?.url, output);
  }
}

/** Returns the token of a login, or the given API token. */
async function tokenFor(
  access: Pick<RemoteContext, "url" | "pin">,
  options: LoginOptions,
  output: Output,
): Promise<string> {
  const { user, provider, token } = options;
  if ([user !== undefined, provider !== undefined, token === true].filter(Boolean).length > 1) {
    throw new UsageError("--user, --provider and --token exclude each other");
  }
  if (token === true) {
    return readSecret("Token");
  }
  const chosen = provider ?? (user === undefined && canAsk() ? await chooseProvider(access) : undefined);
  return chosen === undefined ? passwordLogin(access, options) : providerLogin(access, chosen, output);
}

async function passwordLogin(
  access: Pick<RemoteContext, "url" | "pin">,
  { user }: LoginOptions,
): Promise<string> {
  if (user === undefined && !canAsk()) {
    throw new UsageError("name the user with --user, or run on a terminal to be prompted for it");
  }
  const username = user ?? (await ask("User: "));
  const password = await readSecret(`Password of ${username}`);
  const { session, close } = await openRemoteSession(access);
  try {
    const { message } = await session.call(AuthService.method.login, { username, password });
    return message.token;
  } finally {
    close();
  }
}

/** Returns who the token belongs to. @throws ConnectError when the gateway does not accept it */
async function callerOf(access: Pick<RemoteContext, "url" | "pin" | "token">) {
  const { session, close } = await openRemoteSession(access);
  try {
    const { message } = await session.call(UserService.method.getCaller, {});
    return { actor: message.actor, isLogin: message.credential === Credential.SESSION };
  } finally {
    close();
  }
}

/**
 * Returns the fingerprint to accept; undefined where the system's store decides. A certificate that the store does not know is
 * accepted by `--pin`, or by a person who compares its fingerprint.
 * @throws Error when the certificate is not accepted
 */
async function acceptedPin(url: URL, given: string | undefined): Promise<string | undefined> {
  const pin = given === undefined ? undefined : parseFingerprint(given);
  if (given !== undefined && pin === undefined) {
    throw new UsageError(`--pin: expected sha256: and 64 hexadecimal digits, got "${given}"`);
  }
  if (url.protocol !== "https:") {
    if (pin !== undefined) {
      throw new UsageError("--pin needs an https URL: cleartext http has no certificate");
    }
    return undefined;
  }
  const { fingerprint, problem } = await certificateOf(url);
  if (pin !== undefined) {
    if (pin !== fingerprint) {
      throw new Error(`the server's certificate is ${fingerprint}, not the pinned ${pin}`);
    }
    return pin;
  }
  if (problem === undefined) {
    return undefined;
  }
  const what = `the certificate of ${url.host} is not trusted (${problem}); its fingerprint is ${fingerprint}`;
  if (!canAsk()) {
    throw new Error(`${what}: compare it with the gateway's, then add --pin ${fingerprint}`);
  }
  process.stderr.write(`${what}\n`);
  if (!(await confirms("Trust this certificate, and only this one?"))) {
    throw new Error("the certificate was not accepted; nothing was sent");
  }
  return fingerprint;
}

async function certificateOf(url: URL) {
  try {
    return await seeCertificate(url);
  } catch (error) {
    throw new Error(`no connection to ${url.origin}: ${messageFromError(error)}`);
  }
}

/** Revokes the login of a context, and removes the context. An API token stays valid: an admin revokes it. */
export async function logOut(name: string | undefined, output: Output): Promise<ExitCode> {
  let url: string | undefined;
  try {
    const file = contextsFile();
    const known = await readContexts(file);
    const named = name ?? known.current;
    if (named === undefined) {
      throw new UsageError("not logged in: no context is in use");
    }
    const context = contextNamed(known, named);
    ({ url } = context);
    if (context.isLogin) {
      await revoke(context);
    }
    const { [named]: _removed, ...contexts } = known.contexts;
    const { current } = known;
    await writeContexts(
      file,
      current === undefined || current === named ? { contexts } : { current, contexts },
    );
    output.out(
      context.isLogin
        ? `logged out of ${context.url}`
        : `removed the context ${named}; its API token stays valid until \`hostplane token revoke\``,
    );
    return 0;
  } catch (error) {
    return explainFailure(error, url, output);
  }
}

/** A token that the gateway no longer accepts needs no revocation. */
async function revoke(context: RemoteContext): Promise<void> {
  const { Code, ConnectError } = await import("@connectrpc/connect");
  const { session, close } = await openRemoteSession(context);
  try {
    await session.call(AuthService.method.logout, {});
  } catch (error) {
    if (!(error instanceof ConnectError && error.code === Code.Unauthenticated)) {
      throw error;
    }
  } finally {
    close();
  }
}
