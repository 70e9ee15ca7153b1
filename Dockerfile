# The gateway in a container. It listens on loopback unless it is configured otherwise, which inside a container is the
# container's own unless that shares the host's network; docker-compose.yml shows both ways, docs/deploy.md the rest.
#
#   docker build -t hostplane .
#   docker run --rm --network host hostplane serve --sandbox
FROM node:26-bookworm-slim AS build
# For strip.
RUN apt-get update && apt-get install -y --no-install-recommends binutils && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY package.json package-lock.json ./
# No script of a dependency is needed; the package's own would build a dashboard whose source is not here yet.
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json rolldown.config.ts ./
COPY adapters adapters
COPY client client
COPY dashboard dashboard
COPY gen gen
COPY server server
RUN npx rolldown -c --log-level warn && npx vite build dashboard
COPY bin bin
# The tree that the image adds. dist/server holds its dependencies, except koffi, which is a native module; of the others the
# licenses stay. Node without its symbol table is 33 MB smaller. The descriptor sets in gen/ are the source of /docs and /openapi.json.
RUN npm prune --omit=dev --ignore-scripts --no-audit --no-fund \
    && app=/image/opt/hostplane && mkdir -p "$app/licenses" /image/usr/local/bin /image/usr/local/lib \
    && cp -a package.json bin dist "$app" \
    && cp -a --parents gen/contract.binpb gen/lvmd/current/contract.binpb node_modules/koffi node_modules/@koromix "$app" \
    && rm -rf "$app"/node_modules/koffi/src "$app"/node_modules/koffi/vendor "$app"/node_modules/koffi/doc \
    && find node_modules -type f \( -iname 'licen[cs]e*' -o -iname 'notice*' \) -exec cp --parents -t "$app/licenses" {} + \
    && find /usr/local -maxdepth 1 -name LICENSE -exec cp {} "$app/licenses/node" \; \
    && find /usr/lib -name libatomic.so.1 -exec cp -L -t /image/usr/local/lib {} + \
    && strip -o /image/usr/local/bin/node /usr/local/bin/node \
    && ln -s /opt/hostplane/bin/hostplane.js /image/usr/local/bin/hostplane

# Not Node's image, which has npm, headers and symbols: it alone is larger than this one.
FROM debian:bookworm-slim
# Tools of Debian that a domain starts, by docs/deploy.md: --build-arg PACKAGES="librados2 restic xorriso".
ARG PACKAGES=""
RUN if [ -n "$PACKAGES" ]; then \
      apt-get update && apt-get install -y --no-install-recommends $PACKAGES && rm -rf /var/lib/apt/lists/*; \
    fi
COPY --from=build /image /
RUN ldconfig && groupadd --gid 1000 node && useradd --uid 1000 --gid node --create-home node \
    && install -d -o node -g node -m 0700 /var/lib/hostplane
# Young objects get 8 MB, not 32: a gateway at rest is that much smaller, and answers no slower.
ENV NODE_ENV=production \
    NODE_OPTIONS=--max-semi-space-size=4 \
    HOSTPLANE_DATA=/var/lib/hostplane
WORKDIR /opt/hostplane
VOLUME /var/lib/hostplane
# The user `node`, by a number that Kubernetes can see not to be root's.
USER 1000:1000
# What Node compiles of it is kept in the image, so that each start is spared half of that.
RUN timeout --preserve-status 15 hostplane serve --sandbox --data /tmp/first && rm -rf /tmp/first
# It asks by the socket in HOSTPLANE_DATA, so that it holds for any listener.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "/opt/hostplane/bin/healthcheck.js"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["hostplane"]
# Without --sandbox and without a configured system this refuses to start and says what to do.
CMD ["serve"]
