import { Fragment } from "preact";
import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { inventory } from "../../live/inventory.ts";
import type { Tile } from "../../parts/figure/tiles.tsx";
import { figureTitle } from "../../parts/text/figure-text.ts";
import { resourceTitle } from "../../parts/text/operation-title.ts";
import { generalKind } from "../../resources/general-kind.ts";
import { ResourcePage } from "../../resources/resource-page.tsx";
import { FigureValue } from "./figure-value.tsx";

/** One resource of a domain without a page of its own. */
export function DomainResource({ domain, name }: { readonly domain: string; readonly name: string }) {
  const type = inventory.value.resources.get(name)?.type ?? "resource";
  return (
    <ResourcePage
      kind={generalKind({ type })}
      name={name}
      title={resourceTitle(name)}
      parent={{ title: figureTitle(domain), path: `/${domain}` }}
      tilesOf={tilesOf}
      Now={Now}
    />
  );
}

function tilesOf({ figures }: Resource): readonly Tile[] {
  return figures.map((figure) => ({ label: figureTitle(figure.name), value: <FigureValue of={figure} /> }));
}

function Now({ resource: { name, properties, labels } }: { readonly resource: Resource }) {
  const facts = Object.entries({ ...properties, ...labels });
  return (
    <dl class="facts">
      <dt>Resource</dt>
      <dd>
        <code>{name}</code>
      </dd>
      {facts.map(([fact, value]) => (
        <Fragment key={fact}>
          <dt>{figureTitle(fact)}</dt>
          <dd>{value || "yes"}</dd>
        </Fragment>
      ))}
    </dl>
  );
}
