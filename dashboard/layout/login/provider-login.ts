import { LoginService } from "../../../gen/hostplane/v1/login_pb.ts";
import { gateway } from "../../session.ts";

const logins = gateway.serviceClient(LoginService);

/** The page to return to after the login, as `?host=node-1#/volumes`. Only pages of this origin can write it. */
const returnKey = "hostplane-return";

const callbackPath = /^\/oidc\/([^/]+)\/callback$/;

/** An identity provider to log in by. */
export interface LoginProvider {
  readonly name: string;
  readonly title: string;
  /** Where logins begin; another origin than that of this page if the gateway is also reached by other names. */
  readonly publicUrl: string;
}

/** Returns the identity providers. None if the gateway cannot be asked, since a password may do. */
export async function listLoginProviders(): Promise<readonly LoginProvider[]> {
  try {
    const { providers, publicUrl } = await logins.listProviders({});
    return providers.map(({ name, title }) => ({ name, title, publicUrl }));
  } catch {
    return [];
  }
}

/** Opens the provider's login page, or this gateway's page at the address where logins begin. @throws ConnectError */
export async function beginProviderLogin({ name, publicUrl }: LoginProvider): Promise<void> {
  if (new URL(publicUrl).origin !== location.origin) {
    location.assign(`${publicUrl.replace(/\/$/, "")}/${location.search}${location.hash}`);
    return;
  }
  const { authorizationUrl } = await logins.beginLogin({ provider: name });
  sessionStorage.setItem(returnKey, location.search + location.hash);
  location.assign(authorizationUrl);
}

/**
 * Finishes the login if the provider has returned the browser to this page, and loads the page where the login began.
 * @returns whether that page is loading
 * @throws ConnectError when the login has failed
 */
export async function finishProviderLogin(): Promise<boolean> {
  const [, provider] = callbackPath.exec(location.pathname) ?? [];
  if (provider === undefined) {
    return false;
  }
  const parameters = location.search.slice(1);
  // The code is used up by the first attempt: a reload must not repeat it.
  history.replaceState(null, "", "/");
  await logins.finishLogin({ provider: decodeURIComponent(provider), parameters });
  const page = sessionStorage.getItem(returnKey) ?? "";
  sessionStorage.removeItem(returnKey);
  location.replace(`/${/^[?#]/.test(page) ? page : ""}`);
  // A change of the hash alone does not load the page again.
  if (!page.startsWith("?")) {
    location.reload();
  }
  return true;
}
