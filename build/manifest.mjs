/**
 * The package.json that is published: everything is bundled, so it has no dependencies, and nothing runs on installing it.
 *
 * @param {Record<string, unknown>} manifest the checkout's package.json
 */
export function publishedManifest(manifest) {
  const { scripts, devDependencies, allowScripts, ...published } = manifest
  return published
}
