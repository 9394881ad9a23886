import { buildAll } from './build-all.mjs'

console.log(await buildAll())
