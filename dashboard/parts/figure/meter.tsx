import { fullness } from "./fullness.ts";

/** A share of 100 as a bar and a number. @param percent undefined if it is not known */
export function Meter({ percent, label }: { readonly percent: number | undefined; readonly label: string }) {
  if (percent === undefined) {
    return <span class="quiet">—</span>;
  }
  const kind = fullness(percent);
  return (
    <span class="usage">
      <svg class={`meter ${kind}`} width="64" height="6" role="img" aria-label={label}>
        <rect width="64" height="6" rx="3" />
        <rect width={Math.max(0, Math.min(64, (percent / 100) * 64))} height="6" rx="3" />
      </svg>
      <PercentText percent={percent} />
    </span>
  );
}

/** A share of 100 as a number, in the colour of its fullness. @param percent undefined if it is not known */
export function PercentText({ percent }: { readonly percent: number | undefined }) {
  if (percent === undefined) {
    return <>—</>;
  }
  const kind = fullness(percent);
  return (
    <span class={kind === "ok" ? undefined : kind === "warn" ? "text-warn" : "text-err"}>
      {Math.round(percent)} %
    </span>
  );
}
