import { readdir, readFile } from 'node:fs/promises'

/**
 * The licence texts of all packages with a module in the bundle, sorted by name.
 *
 * @param {string[]} moduleIds absolute paths of the bundled modules
 * @returns {Promise<string>}
 */
export async function thirdPartyNotices(moduleIds) {
  const folders = new Set(moduleIds.map(packageFolder).filter(folder => folder !== undefined))
  const notices = new Map()
  for (const folder of folders) {
    const manifest = JSON.parse(await readFile(`${folder}/package.json`, 'utf8'))
    const title = `${manifest.name} ${manifest.version}`
    notices.set(title, `${title} (${manifest.license})\n\n${await licenceText(folder, manifest)}`)
  }
  const sorted = [...notices].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, notice]) => notice)
  return `${['leasectl contains the following packages.', ...sorted].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}

/** `/x/node_modules/@azure/identity/dist/a.js` → `/x/node_modules/@azure/identity`; undefined for our own modules. */
export function packageFolder(moduleId) {
  return /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(moduleId.replace(/^\0/, ''))?.[0]
}

async function licenceText(folder, { license, author, repository }) {
  const files = (await readdir(folder))
    .filter(file => /^(licen[cs]e|copying|notice|thirdpartynotice)/i.test(file))
    .sort()
  const texts = await Promise.all(files.map(file => readFile(`${folder}/${file}`, 'utf8')))
  if (texts.length > 0) return texts.map(text => text.trim()).join('\n\n')
  const source = repository?.url ?? repository ?? 'its page in the npm registry'
  return `Licensed under ${license} by ${author?.name ?? author ?? 'its authors'}; no text is packed with it, see ${source}`
}
