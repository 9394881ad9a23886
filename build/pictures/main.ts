// npm run pictures   runs the dashboard on an in-memory terminal and writes docs/pictures/*.png
import { mkdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { withBundled } from '../../bench/lib/bundled.ts'
import { MONOSPACE, monospaceFont, pngOf } from './png.ts'
import type { Shot } from './shots.ts'
import { svgOf } from './svg.ts'

const FOLDER = fileURLToPath(new URL('../../docs/pictures/', import.meta.url))
/** Pixels per unit: sharp on high-density screens, and still small. */
const ZOOM = 1.5

const font = monospaceFont()
// Times of day in the pictures are the same on every machine.
process.env.TZ = 'UTC'
await mkdir(FOLDER, { recursive: true })
for (const { name, title, cells } of await shotsOfProgram()) {
  const svg = svgOf(cells, { title, fontFamily: [font, ...MONOSPACE].join(', ') })
  const png = pngOf(svg, ZOOM)
  await writeFile(`${FOLDER}${name}.png`, png)
  console.log(`docs/pictures/${name}.png  ${Math.round(png.length / 1000)} kB`)
}

/** Node cannot read JSX, so the program is bundled first, as for users. */
async function shotsOfProgram(): Promise<readonly Shot[]> {
  return withBundled('build/pictures/shots.ts', async ({ child }) => {
    const { takeShots } = (await import(child)) as typeof import('./shots.ts')
    return takeShots()
  })
}
