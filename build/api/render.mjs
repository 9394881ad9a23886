/** The chapters in their order, each with its functions. */
const CHAPTERS = new Map([
  ['Stores', ['openStore']],
  ['Creating and changing streams', ['changeStream', 'createStream', 'transact']],
  ['After a write', ['onDone', 'onJoined']],
  ['Reading', ['mustReadStream', 'readStream', 'xpath']],
  ['Working', ['advance', 'complete', 'fail', 'release', 'workOn', 'worker']],
  ['Following', ['follow']],
  ['Leases', ['acquireLease', 'breakLease', 'changeLease', 'leaseScope', 'releaseLease', 'renewLease']],
])

/** What kinds of symbols a page has. */
const PAGES = [
  { file: 'functions.md', title: 'Functions', kinds: ['Function'] },
  { file: 'classes.md', title: 'Classes', kinds: ['Class'], not: isError },
  { file: 'errors.md', title: 'Errors', kinds: ['Class'], only: isError },
  { file: 'types.md', title: 'Types', kinds: ['Interface', 'TypeAlias', 'Variable'] },
]

const MADE = '<!-- Made by `npm run api` from the doc comments in src: change those. -->'

/**
 * The pages of the API documentation.
 *
 * @param {any[]} exports as `extractApi` returns them
 * @returns {Map<string, string>} texts by file names
 */
export function renderApi(exports) {
  const home = new Map(exports.map(symbol => [symbol.name, pageOf(symbol).file]))
  const pages = PAGES.map(page => ({ ...page, symbols: sorted(exports.filter(symbol => pageOf(symbol) === page)) }))
  return new Map([
    ['README.md', indexPage(pages)],
    ...pages.map(({ file, title, symbols }) => [file, symbolsPage(file, title, symbols, home)]),
  ])
}

function pageOf(symbol) {
  const page = PAGES.find(
    ({ kinds, only, not }) => kinds.includes(symbol.kind) && !(only?.(symbol) === false || not?.(symbol)),
  )
  if (page === undefined) throw new Error(`${symbol.name}: no page for a ${symbol.kind}`)
  return page
}

function isError({ excerptTokens }) {
  return / extends $/.test(excerptTokens[0].text) && /^(LeasectlError|Error)$/.test(excerptTokens[1]?.text ?? '')
}

function sorted(symbols) {
  const order = [...CHAPTERS.keys()]
  const place = symbol => (symbol.kind === 'Function' ? order.indexOf(chapterOf(symbol)) : 0)
  return symbols.sort((a, b) => place(a) - place(b) || compare(a.name, b.name))
}

function compare(a, b) {
  return a < b ? -1 : a > b ? 1 : 0
}

function chapterOf({ name }) {
  for (const [chapter, names] of CHAPTERS) if (names.includes(name)) return chapter
  throw new Error(`${name}: build/api/render.mjs has no chapter for it`)
}

function indexPage(pages) {
  const parts = pages.map(({ file, title, symbols }) => {
    const rows = symbols.map(
      symbol => `| [${symbol.name}](${file}#${symbol.name.toLowerCase()}) | ${cell(firstSentence(symbol))} |`,
    )
    return `## ${title}\n\n| name | what |\n|---|---|\n${rows.join('\n')}\n`
  })
  return `${MADE}\n\n# The library, symbol by symbol\n\nHow to use it, with programs that run: [library](../library.md).\n\n${parts.join('\n')}`
}

function symbolsPage(file, title, symbols, home) {
  let chapter
  const parts = symbols.map(symbol => {
    const next = symbol.kind === 'Function' ? chapterOf(symbol) : undefined
    const head = next === chapter ? '' : `## ${next}\n\n`
    chapter = next
    return `${head}${symbolText(symbol, file, home)}`
  })
  return `${MADE}\n\n# ${title}\n\n${parts.join('\n')}`
}

function symbolText(symbol, file, home) {
  const { text, tags } = comment(symbol.docComment)
  const notes = tags.map(({ tag, text }) => `- ${LABELS[tag] ?? tag}: ${text}`)
  const see = mentioned(symbol).filter(name => name !== symbol.name && home.has(name))
  const links = see.map(name => `[${name}](${home.get(name) === file ? '' : home.get(name)}#${name.toLowerCase()})`)
  return [
    `### ${symbol.name}`,
    text,
    ...(notes.length > 0 ? [notes.join('\n')] : []),
    `\`\`\`ts\n${declaration(symbol)}\n\`\`\``,
    ...(links.length > 0 ? [`See ${links.join(', ')}.`] : []),
    '',
  ]
    .join('\n\n')
    .replace(/\n\n$/, '\n')
}

const LABELS = { returns: 'returns', throws: 'throws', param: 'parameter', typeParam: 'type parameter' }

/** The prose of a doc comment, and its tags. */
function comment(docComment) {
  const lines = docComment
    .replace(/^\/\*\*\s?/, '')
    .replace(/\s*\*\/\s*$/, '')
    .split('\n')
    .map(line => line.replace(/^ \*( |$)/, ''))
  const all = lines.join('\n').trim()
  const [text, ...blocks] = all.split(/^@(?=(?:param|returns|throws|typeParam)\b)|(?<=[.\s])@(?=(?:throws|returns)\b)/m)
  const tags = blocks.map(block => {
    const [, tag, rest] = /^(\w+)\s+([\s\S]*)$/.exec(block.trim()) ?? []
    return {
      tag,
      text: (tag === 'param' ? rest.replace(/^(\w+)\s+(?:-\s+)?/, '`$1` ') : rest).replaceAll(/\s*\n\s*/g, ' '),
    }
  })
  return { text: text.trim(), tags }
}

function firstSentence({ docComment }) {
  const [paragraph] = comment(docComment).text.split(/\n\s*\n|\n```/)
  const line = paragraph.replaceAll('\n', ' ')
  return (/^(.*?[.?])(?=\s|$)/.exec(line)?.[1] ?? line).replace(/:$/, '.')
}

function cell(text) {
  return text.replaceAll('|', '\\|')
}

/** As it would stand in a program, members with their comments. */
function declaration(symbol) {
  const head = excerpt(symbol).replace(/^export (declare )?/, '')
  if (symbol.members === undefined || symbol.kind === 'TypeAlias') return tidy(head)
  const members = symbol.members.map(member => `${ownComment(member)}\n${dedented(excerpt(member))}`.trim())
  const body = members.map(text => indented(tidy(text))).join('\n')
  return members.length === 0 ? `${tidy(head)} {}` : `${tidy(head)} {\n${body}\n}`
}

/** Constructors without a comment get one by the extractor. */
function ownComment({ kind, docComment }) {
  return kind === 'Constructor' && docComment.includes('Constructs a new instance') ? '' : docComment.trim()
}

/** A member's lines stand as deep as in its class. */
function dedented(text) {
  return text.replaceAll(/^ {4}/gm, '')
}

function excerpt({ excerptTokens }) {
  return excerptTokens
    .map(({ text }) => text)
    .join('')
    .trim()
}

/** Two blanks a level, no semicolons at ends, comments of one line on one line. */
function tidy(text) {
  return text
    .replaceAll(/^( {4})+/gm, blanks => ' '.repeat(blanks.length / 2))
    .replaceAll(/;$/gm, '')
    .replaceAll(/\/\*\*\n\s*\* ([^\n]*)\n\s*\*\//g, '/** $1 */')
    .replaceAll(/= \n/g, '=\n')
    .replaceAll(/(@(?:throws|returns))\n\s*\*\n\s*\* /g, '$1 ')
}

function indented(text) {
  return text.replaceAll(/^(?=.)/gm, '  ')
}

/** Names of other symbols in its declaration, each once, in order. */
function mentioned(symbol) {
  const own = (symbol.excerptTokens ?? []).filter(({ kind }) => kind === 'Reference').map(({ text }) => text)
  return [...new Set([...own, ...(symbol.members ?? []).flatMap(mentioned)])]
}
