import type { z } from "zod";
import { isLoopbackHost } from "./address-range.ts";
import { parseListenAddress } from "./listen-address.ts";

interface ListenerKeys {
  readonly address: string;
  readonly services?: readonly string[];
  readonly auth?: "none";
  readonly role?: string;
  readonly hosts?: readonly string[];
  readonly allowFrom?: readonly string[];
  readonly allowForwarded?: boolean;
  readonly insecure?: boolean;
  readonly mode?: string;
  readonly tls?: object;
}

/** Adds an issue for each key of a listener that other keys require or rule out. */
export function assertListenerRules(listener: ListenerKeys, context: z.RefinementCtx): void {
  const { auth, services, role, hosts, allowFrom, allowForwarded, insecure = false, mode, tls } = listener;
  const address = parseListenAddress(listener.address);
  if (typeof address === "string") {
    return;
  }
  const isUnix = address.kind === "unix";
  const isExposed = !isUnix && !isLoopbackHost(address.host);
  const isOpen = auth === "none";
  const mistake = (key: string, message: string) =>
    context.addIssue({ code: "custom", path: [key], message });

  if (mode !== undefined && !isUnix) {
    mistake("mode", "expected only with a unix: address");
  }
  if (isUnix) {
    for (const [key, value] of Object.entries({ tls, allowFrom, hosts })) {
      if (value !== undefined) {
        mistake(key, "expected only with a host:port address");
      }
    }
  }
  if (role !== undefined && !isOpen) {
    mistake("role", "expected only with auth: none");
  }
  if (allowForwarded !== undefined && (!isOpen || isUnix)) {
    mistake("allowForwarded", "expected only with auth: none on a host:port address");
  }
  if (isOpen && services === undefined) {
    mistake("services", "expected the services that are open to everyone, because auth is none");
  }
  if (isOpen && role === undefined) {
    mistake("role", "expected viewer or operator, the role of every caller, because auth is none");
  }
  if (isOpen && isExposed && allowFrom === undefined) {
    mistake(
      "allowFrom",
      "expected the addresses that may connect, because auth is none on an address beyond loopback",
    );
  }
  const needsInsecure = isExposed && (isOpen || tls === undefined);
  if (needsInsecure && !insecure) {
    const why = isOpen ? "auth is none" : "tls is not set";
    mistake(
      "insecure",
      `expected true, because the address is beyond loopback (127.0.0.0/8, [::1], localhost) and ${why}`,
    );
  }
  if (insecure && !needsInsecure) {
    mistake("insecure", "expected only with an address beyond loopback that has no tls, or auth: none");
  }
  if (hosts !== undefined && isExposed && !isOpen) {
    mistake(
      "hosts",
      "expected only with auth: none or a loopback address; other listeners accept every name",
    );
  }
}
