import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ErrorNote } from "../../parts/error-note.tsx";
import { beginProviderLogin, type LoginProvider, listLoginProviders } from "./provider-login.ts";

/** The identity providers to log in by, as buttons; nothing if there are none. */
export function ProviderButtons() {
  const providers = useSignal<readonly LoginProvider[]>([]);
  const error = useSignal<unknown>(undefined);
  const isBusy = useSignal(false);

  useEffect(() => {
    void listLoginProviders().then((listed) => {
      providers.value = listed;
    });
  }, []);

  async function begin(provider: LoginProvider): Promise<void> {
    isBusy.value = true;
    error.value = undefined;
    try {
      await beginProviderLogin(provider);
    } catch (thrown) {
      error.value = thrown;
      isBusy.value = false;
    }
  }

  if (providers.value.length === 0) {
    return null;
  }
  return (
    <section class="stack" aria-label="Identity providers">
      {providers.value.map((provider) => (
        <button
          key={provider.name}
          type="button"
          disabled={isBusy.value}
          onClick={() => void begin(provider)}
        >
          Log in with {provider.title}
        </button>
      ))}
      {error.value !== undefined && <ErrorNote error={error.value} />}
    </section>
  );
}
