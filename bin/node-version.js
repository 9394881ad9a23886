// Any Node version must be able to parse this file: no syntax newer than import().

/** Supported Node releases: those whose node:sqlite has SQLite 3.51.3 or later (WAL-reset bug fixed). */
export var SUPPORTED_NODE = '^22.22.3 || ^24.15.0 || >=26'

/**
 * The reason why leasectl cannot run on a Node version, or undefined if it can.
 *
 * @param {string} version `process.versions.node`
 * @returns {string | undefined}
 */
export function unsupportedNode(version) {
  if (isSupported(version)) return undefined
  return `leasectl needs Node ${SUPPORTED_NODE}; this is Node ${version}`
}

function isSupported(version) {
  var parts = version.split('.').map(Number)
  var major = parts[0]
  if (major === 22) return atLeast(parts, 22, 3)
  if (major === 24) return atLeast(parts, 15, 0)
  return major >= 26
}

function atLeast(parts, minor, patch) {
  return parts[1] > minor || (parts[1] === minor && parts[2] >= patch)
}
