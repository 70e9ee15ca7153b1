import type { ComponentChildren, ComponentType } from "preact";
import type { Resource } from "../../gen/hostplane/v1/inventory_pb.ts";
import { Role } from "../../gen/hostplane/v1/user_pb.ts";
import { inventory } from "../live/inventory.ts";
import { ErrorNote } from "../parts/error-note.tsx";
import { type Tile, Tiles } from "../parts/figure/tiles.tsx";
import { Icon } from "../parts/icon.tsx";
import { useKeys } from "../parts/keys.ts";
import { MenuButton } from "../parts/menu.tsx";
import { Note } from "../parts/note.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { Status } from "../parts/status.tsx";
import { keyTextOf } from "../parts/table/row-menu.tsx";
import type { RowAction } from "../parts/table/table-props.ts";
import { type Tab, Tabs } from "../parts/tabs.tsx";
import { hasRole } from "../session.ts";
import { Page } from "../shell/page.tsx";
import type { ResourceKind } from "./kind.ts";
import { statusOfResource } from "./kinds.ts";
import { LastFailure } from "./last-failure.tsx";
import { ResourceAudit } from "./tabs/resource-audit.tsx";
import { ResourceEvents } from "./tabs/resource-events.tsx";
import { ResourceHistory } from "./tabs/resource-history.tsx";
import { ResourceOperations } from "./tabs/resource-operations.tsx";

/** A tab of a resource's page. */
export interface ResourceTab extends Tab {
  readonly Body: ComponentType<{ readonly resource: Resource }>;
}

/** Actions shown as buttons; the others are in the menu. */
const shownActions = 2;

/** The page of one resource: its key figures, what it does now, and its history, events, operations and audit. */
export function ResourcePage(props: {
  readonly kind: ResourceKind;
  /** Its name in the inventory. */
  readonly name: string;
  /** What to call it until it is read, or if there is no such resource. */
  readonly title: string;
  readonly parent: { readonly title: string; readonly path: string };
  readonly tilesOf: (resource: Resource) => readonly Tile[];
  readonly Now: ComponentType<{ readonly resource: Resource }>;
  /** Tabs between "Operations" and "Audit". */
  readonly tabs?: readonly ResourceTab[];
}) {
  const { name, title, parent } = props;
  const { resources, isComplete, error } = inventory.value;
  const resource = resources.get(name);
  const place = resource === undefined ? undefined : props.kind.placeOf?.(resource);
  return (
    <Page title={place ?? resource?.title ?? title} parents={[parent]}>
      {error !== undefined && <ErrorNote error={error} />}
      {resource === undefined && !isComplete && error === undefined && <Skeleton />}
      {resource === undefined && isComplete && (
        <>
          <h1>{title}</h1>
          <Note tone="warn" role="status">
            No such {props.kind.title}. It may have been removed.
          </Note>
          <LastFailure name={name} />
        </>
      )}
      {resource !== undefined && <Found {...props} resource={resource} />}
    </Page>
  );
}

function Found(props: Parameters<typeof ResourcePage>[0] & { readonly resource: Resource }) {
  const { kind, resource, tilesOf, Now, tabs = [] } = props;
  const all: readonly ResourceTab[] = [
    { id: "", title: "Now", Body: Now },
    { id: "history", title: "History", Body: ResourceHistory },
    { id: "events", title: "Events", Body: ResourceEvents },
    { id: "operations", title: "Operations", Body: ResourceOperations },
    ...tabs,
    ...(hasRole(Role.ADMIN) ? [{ id: "audit", title: "Audit", Body: ResourceAudit }] : []),
  ];
  return (
    <>
      <Head kind={kind} resource={resource} />
      {resource.reason !== "" && <Note tone="warn">{resource.reason}</Note>}
      <LastFailure name={resource.name} />
      <Tiles of={tilesOf(resource)} />
      <Tabs label="About it" of={all}>
        {({ id, Body }) => <Body resource={resource} key={`${id} ${resource.name}`} />}
      </Tabs>
    </>
  );
}

function Head({ kind, resource }: { readonly kind: ResourceKind; readonly resource: Resource }) {
  const actions = kind.actions().filter(({ appliesTo }) => appliesTo?.(resource) ?? true);
  useKeys(
    actions.flatMap(({ key, text, run }) =>
      key === undefined ? [] : [{ key, does: text.replace("…", ""), run: () => run(resource) }],
    ),
  );
  const shown = actions.filter(({ isDestructive }) => !isDestructive).slice(0, shownActions);
  const others = actions.filter((action) => !shown.includes(action));
  return (
    <div class="resource-head">
      <Status kind={statusOfResource(resource)} text={resource.state} />
      <h1>{resource.title}</h1>
      <span class="quiet">{resource.state}</span>
      <div class="row">
        {shown.map((action) => (
          <ActionButton key={action.text} action={action} resource={resource}>
            {action.text}
          </ActionButton>
        ))}
        {others.length > 0 && (
          <MenuButton
            label={`More actions of ${resource.title}`}
            class="bare icon"
            items={() =>
              others.map(({ text, icon, key, isDestructive = false, run }, index) => ({
                text,
                ...(icon === undefined ? {} : { icon }),
                ...(key === undefined ? {} : { keyText: keyTextOf(key) }),
                isDestructive,
                isAfterLine: isDestructive && index > 0,
                run: () => run(resource),
              }))
            }
          >
            <Icon name="more" />
          </MenuButton>
        )}
      </div>
    </div>
  );
}

function ActionButton(props: {
  readonly action: RowAction<Resource>;
  readonly resource: Resource;
  readonly children: ComponentChildren;
}) {
  const { action, resource, children } = props;
  return (
    <button type="button" onClick={() => action.run(resource)}>
      {action.icon !== undefined && <Icon name={action.icon} />}
      {children}
    </button>
  );
}
