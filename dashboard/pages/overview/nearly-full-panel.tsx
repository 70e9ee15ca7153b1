import { Link } from "wouter-preact";
import { keyOfResource } from "../../host/key-of-resource.ts";
import { fullness } from "../../parts/figure/fullness.ts";
import { Meter } from "../../parts/figure/meter.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Status } from "../../parts/status.tsx";
import { sizeText } from "../../parts/text/size-text.ts";
import { kindOf, pathOfResource } from "../../resources/kinds.ts";
import type { FullResource } from "./nearly-full.ts";

const shownResources = 8;

/** What is nearly full, the fullest first. */
export function NearlyFullPanel({ of }: { readonly of: readonly FullResource[] }) {
  return (
    <Panel title="Nearly full" note={of.length} isFlush>
      {of.length === 0 && <p class="inside quiet">Nothing is filled to 75 % or more.</p>}
      <ul class="lines">
        {of.slice(0, shownResources).map((full) => (
          <FullLine key={keyOfResource(full.resource)} of={full} />
        ))}
        {of.length > shownResources && <li class="quiet">{of.length - shownResources} more</li>}
      </ul>
    </Panel>
  );
}

function FullLine({ of: { resource, usedPercent, freeBytes } }: { readonly of: FullResource }) {
  const { title, labels } = resource;
  const kind = kindOf(resource);
  const place = kind.placeOf?.(resource) || labels.host;
  return (
    <li>
      <Status kind={fullness(usedPercent)} text={`${Math.round(usedPercent)} % used`} />
      <span class="grow title one-line">
        <Link href={`~${pathOfResource(resource)}`}>{title}</Link>{" "}
        <span class="quiet">{[resource.host, kind.title, place].filter(Boolean).join(", ")}</span>
      </span>
      <Meter percent={usedPercent} label={`${title}, in use`} />
      <span class="soft figure">{freeBytes === undefined ? "—" : `${sizeText(freeBytes)} free`}</span>
    </li>
  );
}
