import type { ComponentChildren } from "preact";
import { Suspense } from "preact/compat";
import { Link, useLocation } from "wouter-preact";
import { ActionDialog } from "../action/action-dialog.tsx";
import { roleText } from "../parts/role-text.ts";
import { logout, type Session } from "../session.ts";
import { ConnectionBanner } from "./connection-banner.tsx";
import type { PageEntry } from "./pages.ts";

/** What surrounds every page: who is logged in where, the navigation, and what is told about the connection. */
export function Frame(props: {
  readonly pages: readonly PageEntry[];
  readonly session: Session & { readonly state: "in" };
  readonly children: ComponentChildren;
}) {
  const { caller, info } = props.session;
  return (
    <div class="frame">
      <header>
        <button type="button" class="skip" onClick={skipToContent}>
          To the content
        </button>
        <Link href="/" class="name">
          hostplane
        </Link>
        {info.sandbox && (
          <span class="sandbox" title="Its systems are made up; nothing on the host is touched.">
            Sandbox
          </span>
        )}
        <span class="quiet">{info.hostname}</span>
        <span class="space" />
        <span class="quiet">
          {caller.actor}, {roleText(caller.role)}
        </span>
        <a href="/docs">API</a>
        <button type="button" onClick={() => void logout()}>
          Log out
        </button>
      </header>
      <Navigation pages={props.pages} />
      <main id="content" tabIndex={-1}>
        <ConnectionBanner />
        <Suspense fallback={<p role="status">Loading …</p>}>{props.children}</Suspense>
      </main>
      <ActionDialog />
    </div>
  );
}

function Navigation({ pages }: { readonly pages: readonly PageEntry[] }) {
  const [location] = useLocation();
  return (
    <nav aria-label="Pages">
      <ul>
        {pages.map(({ path, title }) => (
          <li key={path}>
            <Link href={path} aria-current={isAt(location, path) ? "page" : undefined}>
              {title}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function isAt(location: string, path: string): boolean {
  return path === "/" ? location === "/" : location === path || location.startsWith(`${path}/`);
}

/** No link, since the address' hash is the page's route. */
function skipToContent(): void {
  document.getElementById("content")?.focus();
}
