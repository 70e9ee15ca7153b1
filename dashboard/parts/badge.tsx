import type { ComponentChildren } from "preact";
import { type StatusKind, StatusText } from "./status.tsx";

/** What a state means. */
export type Tone = "ok" | "warn" | "bad" | "busy" | "off";

const kinds: Readonly<Record<Tone, StatusKind>> = {
  ok: "ok",
  warn: "warn",
  bad: "failed",
  busy: "running",
  off: "off",
};

/** A state in one word. */
export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return <StatusText kind={kinds[tone]}>{children}</StatusText>;
}
