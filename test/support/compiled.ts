import { fileURLToPath } from 'node:url'

/** The environment of programs that tests often start, from the sources or packages: Node keeps their compiled code. */
export const COMPILED = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../node_modules/.cache/leasectl-tests', import.meta.url)),
}
