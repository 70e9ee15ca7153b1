import type { ComponentChildren } from "preact";
import { ResourceHealth } from "../../gen/hostplane/v1/inventory_pb.ts";

/** What a state means. Each has a shape of its own, so that no status depends on colour alone. */
export type StatusKind = "ok" | "warn" | "failed" | "running" | "approval" | "off" | "unknown" | "change";

const shapes: Readonly<Record<StatusKind, ComponentChildren>> = {
  ok: <circle cx="6" cy="6" r="4" fill="var(--ok-shape)" />,
  warn: <path d="M6 1.5 11 10.5H1Z" fill="var(--warn-shape)" />,
  failed: <path d="M6 .5 11.5 6 6 11.5.5 6Z" fill="var(--err-shape)" />,
  running: (
    <g fill="none" stroke="var(--series-1)" stroke-width="2">
      <circle cx="6" cy="6" r="4.5" opacity=".25" />
      <path d="M6 1.5A4.5 4.5 0 0 1 10.5 6">
        <animateTransform
          attributeName="transform"
          type="rotate"
          from="0 6 6"
          to="360 6 6"
          dur="1.2s"
          repeatCount="indefinite"
        />
      </path>
    </g>
  ),
  approval: (
    <g fill="none" stroke="var(--wait-shape)" stroke-width="1.5">
      <rect x="1.5" y="1.5" width="9" height="9" rx="2" />
      <path d="M6 4v4" />
    </g>
  ),
  off: <circle cx="6" cy="6" r="4" fill="none" stroke="var(--control)" stroke-width="1.5" />,
  unknown: (
    <circle
      cx="6"
      cy="6"
      r="4"
      fill="none"
      stroke="var(--control)"
      stroke-width="1.5"
      stroke-dasharray="2 1.5"
    />
  ),
  change: <rect x="2.5" y="2.5" width="7" height="7" rx="1.5" fill="var(--series-1)" />,
};

/** The shape of a status, 12 px wide. @param text what it means, for a screen reader; omit it where a visible text says it */
export function Status({ kind, text }: { readonly kind: StatusKind; readonly text?: string }) {
  return text === undefined ? (
    <svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true">
      {shapes[kind]}
    </svg>
  ) : (
    <svg width="12" height="12" viewBox="0 0 12 12" role="img" aria-label={text}>
      <title>{text}</title>
      {shapes[kind]}
    </svg>
  );
}

const textClasses: Readonly<Record<StatusKind, string>> = {
  ok: "soft",
  warn: "text-warn",
  failed: "text-err",
  running: "text-busy",
  approval: "text-wait",
  off: "quiet",
  unknown: "quiet",
  change: "soft",
};

/** A status with its word. */
export function StatusText({
  kind,
  children,
}: {
  readonly kind: StatusKind;
  readonly children: ComponentChildren;
}) {
  return (
    <span class={`keep status-text ${textClasses[kind]}`}>
      <Status kind={kind} />
      {children}
    </span>
  );
}

/** The status of a resource's health. */
export function healthStatus(health: ResourceHealth): StatusKind {
  switch (health) {
    case ResourceHealth.OK:
      return "ok";
    case ResourceHealth.DEGRADED:
      return "warn";
    case ResourceHealth.FAILED:
      return "failed";
    default:
      return "unknown";
  }
}
