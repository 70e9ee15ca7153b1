import { sizeText } from "./text/size-text.ts";

/** Usage as a bar and in words. Both values in bytes. */
export function UsageBar(props: {
  readonly label: string;
  readonly usedBytes: bigint | number;
  readonly totalBytes: bigint | number;
}) {
  const used = Number(props.usedBytes);
  const total = Number(props.totalBytes);
  const percent = total > 0 ? Math.round((used / total) * 100) : 0;
  return (
    <div>
      <div class="row usage">
        <span>{props.label}</span>
        <span class="quiet">
          {sizeText(used)} of {sizeText(total)} ({percent} %)
        </span>
      </div>
      <progress aria-label={`${props.label}, in use`} value={used} max={total > 0 ? total : 1} />
    </div>
  );
}
