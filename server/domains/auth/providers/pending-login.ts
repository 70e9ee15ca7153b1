import { timingSafeEqual } from "node:crypto";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { Seal } from "../../../crypto/seal.ts";
import { authReasons } from "../reasons.ts";
import type { LoginChecks } from "./provider-connection.ts";

/** Logins that have begun and not finished. They are kept by those who began them, sealed, so that they cost the gateway nothing. */
export interface PendingLogins {
  /** Seals a login in a browser, for a cookie. */
  sealBrowser(provider: string, checks: LoginChecks): string;
  /**
   * Opens it.
   * @throws InfraError LOGIN_NOT_BEGUN when there is none, it is too old, of another provider, or has another state
   */
  openBrowser(sealed: string | undefined, provider: string, state: string | null): LoginChecks;
  /** Seals a device login, for the program that began it. */
  sealDevice(provider: string, deviceCode: string, expiresAtMs: number): string;
  /** Opens it. @throws InfraError LOGIN_NOT_BEGUN */
  openDevice(sealed: string): { readonly provider: string; readonly deviceCode: string };
}

/** A person needs some minutes for a password and a second factor. */
export const pendingLoginMs = 10 * 60 * 1000;

const maxSealedLength = 8192;

/** @param seal of its own purpose, so that nothing else that the gateway seals is accepted */
export function createPendingLogins(seal: Seal): PendingLogins {
  function sealed(context: string, content: object): string {
    return Buffer.from(seal.seal(Buffer.from(JSON.stringify(content)), context)).toString("base64url");
  }

  function opened<Content extends object>(text: string | undefined, context: string): Content {
    let content: Content & { readonly expiresAtMs: number };
    try {
      if (text === undefined || text.length > maxSealedLength) {
        throw notBegun();
      }
      content = JSON.parse(Buffer.from(seal.open(Buffer.from(text, "base64url"), context)).toString());
    } catch {
      throw notBegun();
    }
    if (Date.now() >= content.expiresAtMs) {
      throw notBegun();
    }
    return content;
  }

  return {
    sealBrowser: (provider, checks) =>
      sealed("browser", { ...checks, provider, expiresAtMs: Date.now() + pendingLoginMs }),
    openBrowser(text, provider, state) {
      const content = opened<LoginChecks & { readonly provider: string }>(text, "browser");
      if (content.provider !== provider || state === null || !isEqual(content.state, state)) {
        throw notBegun();
      }
      return content;
    },
    sealDevice: (provider, deviceCode, expiresAtMs) =>
      sealed("device", { provider, deviceCode, expiresAtMs }),
    openDevice: (text) => opened(text, "device"),
  };
}

function isEqual(a: string, b: string): boolean {
  const [first, second] = [Buffer.from(a), Buffer.from(b)];
  return first.length === second.length && timingSafeEqual(first, second);
}

function notBegun(): InfraError {
  return new InfraError(
    authReasons.LOGIN_NOT_BEGUN,
    "no such login was begun here, it was begun at another identity provider, or it took too long; begin again",
  );
}
