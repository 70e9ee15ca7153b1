# The gateway in a container. By default it listens on loopback. In a container that is the container's own loopback, unless it
# shares the host's network. docker-compose.yml has examples of both; docs/how-to/deploy.md has the details.
#
#   docker build -t hostplane .
#   docker run --rm --network host hostplane serve --sandbox
FROM node:26-bookworm-slim AS build
# binutils provides strip.
RUN apt-get update && apt-get install -y --no-install-recommends binutils && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY package.json package-lock.json ./
# No dependency needs its scripts, and the package's own would build a dashboard whose source has not been copied yet.
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json rolldown.config.ts ./
COPY adapters adapters
COPY client client
COPY dashboard dashboard
COPY gen gen
COPY server server
RUN npx rolldown -c --log-level warn && npx vite build dashboard
COPY bin bin
# The files that the image adds. dist/server bundles the dependencies except koffi, which is a native module; of the others only
# the licenses are kept. Stripping Node saves 33 MB. /docs and /openapi.json are generated from the descriptor sets in gen/.
RUN npm prune --omit=dev --ignore-scripts --no-audit --no-fund \
    && app=/image/opt/hostplane && mkdir -p "$app/licenses" /image/usr/local/bin /image/usr/local/lib \
    && cp -a package.json bin dist "$app" \
    && cp -a --parents gen/contract.binpb gen/lvmd/current/contract.binpb node_modules/koffi node_modules/@koromix "$app" \
    && rm -rf "$app"/node_modules/koffi/vendor "$app"/node_modules/koffi/doc "$app"/node_modules/koffi/lib \
    && find "$app"/node_modules/koffi/src -type f ! -name '*.js' ! -name '*.cjs' -delete \
    && find node_modules -type f \( -iname 'licen[cs]e*' -o -iname 'notice*' \) -exec cp --parents -t "$app/licenses" {} + \
    && find /usr/local -maxdepth 1 -name LICENSE -exec cp {} "$app/licenses/node" \; \
    && find /usr/lib -name libatomic.so.1 -exec cp -L -t /image/usr/local/lib {} + \
    && strip -o /image/usr/local/bin/node /usr/local/bin/node \
    && ln -s /opt/hostplane/bin/hostplane.js /image/usr/local/bin/hostplane

# Not Node's image, which includes npm, headers and symbols and is larger than this one.
FROM debian:bookworm-slim
# Debian packages that a domain needs, see docs/how-to/deploy.md: --build-arg PACKAGES="librados2 restic xorriso".
ARG PACKAGES=""
RUN if [ -n "$PACKAGES" ]; then \
      apt-get update && apt-get install -y --no-install-recommends $PACKAGES && rm -rf /var/lib/apt/lists/*; \
    fi
COPY --from=build /image /
RUN ldconfig && groupadd --gid 1000 node && useradd --uid 1000 --gid node --create-home node \
    && install -d -o node -g node -m 0700 /var/lib/hostplane
# Limits V8's young generation to 8 MB instead of 32, and glibc to one arena: an idle gateway uses less memory and is no slower.
ENV NODE_ENV=production \
    NODE_OPTIONS=--max-semi-space-size=4 \
    MALLOC_ARENA_MAX=1 \
    HOSTPLANE_DATA=/var/lib/hostplane
WORKDIR /opt/hostplane
VOLUME /var/lib/hostplane
# The user `node`, as a number: for a name, Kubernetes cannot verify runAsNonRoot.
USER 1000:1000
# Fills Node's compile cache in the image, which halves the time that each start spends compiling.
RUN timeout --preserve-status 15 hostplane serve --sandbox --listen 127.0.0.1:0 --data /tmp/first && rm -rf /tmp/first
# Uses the socket in HOSTPLANE_DATA, so it works with any listener.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "/opt/hostplane/bin/healthcheck.js"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["hostplane"]
# Without --sandbox and without a configured system it refuses to start and says what to do.
CMD ["serve"]
