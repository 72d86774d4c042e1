# syntax=docker/dockerfile:1
# The service of one machine. docs/operate/self-hosting.md, "Run a container", says how it runs.

FROM node:24.21.0-bookworm-slim AS base
WORKDIR /app

# An ffmpeg with what captures need and nothing else, from Debian's source with its security patches.
FROM base AS ffmpeg
# Versions are those of the pinned release of Debian: it removes a package as soon as its fix is out.
# hadolint ignore=DL3008
RUN sed -i 's/^Types: deb$/Types: deb deb-src/' /etc/apt/sources.list.d/debian.sources \
  && apt-get update \
  && apt-get install -y --no-install-recommends build-essential dpkg-dev libx264-dev nasm pkg-config \
  && apt-get source ffmpeg \
  && mv ffmpeg-*/ source \
  && rm -rf /var/lib/apt/lists/*
COPY layers/ffmpeg/build-minimal.sh ./
RUN sh build-minimal.sh source ffmpeg

FROM base AS dependencies
COPY package.json package-lock.json .npmrc ./
COPY client/package.json ./client/
COPY console/package.json ./console/
COPY lib/package.json ./lib/
# The optional packages are those of the built-in model, without which "a person" is not judged. The image has an ffmpeg of its own.
RUN npm ci --omit=dev --omit=peer --ignore-scripts && rm -rf node_modules/ffmpeg-static

FROM base AS build
COPY package.json package-lock.json .npmrc tsconfig.json ./
COPY client/package.json ./client/
COPY console/package.json ./console/
COPY lib/package.json ./lib/
RUN npm ci --ignore-scripts
COPY LICENSE README.md ./
COPY docs/operate/watchpost.service ./docs/operate/
COPY client ./client
COPY console ./console
COPY core ./core
COPY adapters ./adapters
COPY cli ./cli
COPY lib/workflow/run.asl.json lib/workflow/bursts.asl.json ./lib/workflow/
COPY bin/build-package.ts bin/client-types.ts bin/tsconfig.package.json ./bin/
RUN npm pack && mkdir data package && tar -xzf watchpost-*.tgz -C package --strip-components=1

FROM base
ENV NODE_ENV=production \
  WATCHPOST_HOST=0.0.0.0 \
  WATCHPOST_DATA_DIR=/data \
  WATCHPOST_FFMPEG=/usr/local/bin/ffmpeg
COPY --from=ffmpeg /app/ffmpeg /usr/local/bin/ffmpeg
COPY --from=dependencies /app/node_modules ./node_modules
# The package as npm installs it elsewhere, with the dependencies of the lock file.
COPY --from=build /app/package ./node_modules/watchpost
COPY --from=build --chown=1000:1000 --chmod=0700 /app/data /data
# The user `node` of the base image, by number, so that a host can tell that it is not root.
USER 1000:1000
VOLUME ["/data"]
EXPOSE 8787
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --start-interval=1s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.WATCHPOST_PORT ?? 8787}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# 8 MB instead of 64 for new objects: the service takes about 100 MB less, and no more time (docs/operate/self-hosting.md, "Reduce memory and processor time").
CMD ["node", "--max-semi-space-size=8", "node_modules/watchpost/cli/launch.js", "start"]
