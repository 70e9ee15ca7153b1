import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Route, Router, Switch } from "wouter-preact";
import { proposed } from "./action/action.ts";
import { host } from "./host/host.ts";
import { Away } from "./layout/away.tsx";
import { domainPages } from "./layout/domain-pages.ts";
import { Frame } from "./layout/frame.tsx";
import { Login } from "./layout/login/login.tsx";
import { finishProviderLogin } from "./layout/login/provider-login.ts";
import { OpenHost } from "./layout/open-host.tsx";
import { pages, pagesOf } from "./layout/pages.ts";
import { closePalette } from "./layout/palette.tsx";
import { usePagePath } from "./layout/use-page-path.ts";
import { followOperations } from "./live/current-operations.ts";
import { followDismissed } from "./live/dismissed-operations.ts";
import { followEvents, onEvent } from "./live/event-stream.ts";
import { followHosts } from "./live/hosts.ts";
import { followInventory } from "./live/inventory.ts";
import { forgetOperations } from "./live/latest-operations.ts";
import { forgetRowHistory } from "./live/row-history.ts";
import { followSystems } from "./live/systems.ts";
import { hasRole, refreshSession, resumeSession, session } from "./session.ts";
import { Page as LayoutPage } from "./shell/page.tsx";
import { closePanel } from "./shell/side-panel.tsx";
import { forgetToasts } from "./shell/toasts.tsx";

/** The dashboard: the login page until there is a login, then the frame around the page at the current address. */
export function App() {
  const current = session.value;
  const isIn = current.state === "in";
  const failed = useSignal<unknown>(undefined);
  useEffect(() => {
    void begin().catch((error) => {
      failed.value = error;
      return resumeSession();
    });
  }, []);
  useEffect(() => (isIn ? beginLogin() : undefined), [isIn]);
  const isHub = current.state === "in" && current.info.hub;
  useEffect(() => (isHub ? followHosts() : undefined), [isHub]);
  if (current.state === "unknown") {
    return current.error === undefined ? (
      <p role="status" class="reading center">
        Loading …
      </p>
    ) : (
      <Away error={current.error} />
    );
  }
  if (current.state === "out") {
    return <Login ended={current.error} failed={failed.value} />;
  }
  const shown = pagesOf(
    [...pages, ...domainPages.value],
    host !== undefined ? "host" : isHub ? "hub" : "gateway",
  ).filter(({ role }) => role === undefined || hasRole(role));
  return (
    <Router hook={usePagePath}>
      <Frame pages={shown} session={current}>
        <Switch>
          <Route path="/hosts/:name/*?">
            <OpenHost />
          </Route>
          {shown.map(({ path, Page }) => (
            <Route key={path} path={path} nest={path !== "/"}>
              <Page />
            </Route>
          ))}
          <Route>
            <LayoutPage title="Page not found">
              <p>Choose a page in the navigation. Some pages need another role.</p>
            </LayoutPage>
          </Route>
        </Switch>
      </Frame>
    </Router>
  );
}

/** Finishes a login by an identity provider, or resumes the session. */
async function begin(): Promise<void> {
  if (!(await finishProviderLogin())) {
    await resumeSession();
  }
}

/** Starts everything that runs during a login. @returns a function that stops it and clears what the next user must not see */
function beginLogin(): () => void {
  const endEvents = followEvents();
  const endInventory = followInventory();
  const ends = [followSystems(), followOperations(), followDismissed()];
  const endRefreshing = onEvent((event) => {
    if (event === "resumed") {
      void refreshSession();
    }
  });
  return () => {
    endRefreshing();
    endEvents();
    endInventory();
    for (const end of ends) {
      end();
    }
    closePanel();
    closePalette();
    forgetToasts();
    forgetRowHistory();
    proposed.value = undefined;
    forgetOperations();
  };
}
