// npm runs `prepare` at the end of `npm ci`, with node_modules/.bin (the Node of devDependencies) first on PATH, and again
// when `npx leasectl` first links the checkout into its cache; there an existing build is good enough.
import { existsSync } from 'node:fs'
import { buildAll, DIST } from './build-all.mjs'

const linkedByNpx = process.env.npm_command === 'exec'
if (!linkedByNpx || !existsSync(`${DIST}/cli.js`)) console.error(await buildAll())
