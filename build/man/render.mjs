/**
 * The man page of a catalogue, in the macros of man(7). It has no date, so that it changes only with the catalogue.
 *
 * @param {import('../../src/commands/help/catalogue.ts').Catalogue} catalogue
 * @returns {string}
 */
export function renderMan(catalogue) {
  const { program, version, commands, globalFlags, exitCodes, errorCodes, topics } = catalogue
  const shared = sharedFlags(commands)
  const groups = [...new Set(commands.map(({ group }) => group))]
  const topic = name => topics.find(one => one.name === name)?.text ?? ''
  return [
    `.\\" Generated from the command line by build/man.mjs: do not edit.`,
    `.TH ${program.toUpperCase()} 1 "" "${program} ${version}" "${program} manual"`,
    '.nh',
    '.ad l',
    section('NAME', [`${program} \\- inspect and change event streams in leased blobs`]),
    section('SYNOPSIS', [`.B ${program}`, '.I COMMAND', '[flags]']),
    section('DESCRIPTION', DESCRIPTION.flatMap(paragraph)),
    section(
      'COMMANDS',
      groups.flatMap(group => overview(group, commands)),
    ),
    section('GLOBAL FLAGS', globalFlags.flatMap(flagItem)),
    ...[...shared].map(([title, flags]) => section(title.toUpperCase(), flags.flatMap(flagItem))),
    section(
      'REFERENCE',
      commands.flatMap(command => reference(command, shared)),
    ),
    section('ADDRESSES OF STORES', blocks(topic('addresses'))),
    section('SELECTIONS', blocks(topic('selections'))),
    section('EXIT STATUS', exitStatus(exitCodes)),
    section(
      'ERROR CODES',
      errorCodes.flatMap(({ code, exit, meaning }) => item(bold(code), `Exit ${exit}. ${meaning}`)),
    ),
    section('ENVIRONMENT', blocks(topic('environment').replace(/^VARIABLE .*\n/, ''))),
    section(
      'FILES',
      FILES.flatMap(([path, text]) => item(italic(path), text)),
    ),
    '',
  ].join('\n')
}

const DESCRIPTION = [
  'leasectl lists, shows, follows and changes event streams: XML documents in leased blobs, on Azure Blob Storage or in one SQLite file. It also runs workers, a watchdog and a dashboard.',
  'Commands that only read take no lease. Every command prints its own help with --help; help -o json prints everything on this page for programs.',
]

const FILES = [
  ['$XDG_DATA_HOME/leasectl/leasectl.db', 'the embedded store (default: below ~/.local/share)'],
  ['$XDG_CONFIG_HOME/leasectl/contexts.json', 'contexts (default: below ~/.config)'],
  ['$XDG_STATE_HOME/leasectl/runs', 'run files of batches (default: below ~/.local/state)'],
]

/** The flags under a heading that several commands have, by heading: described once. */
function sharedFlags(commands) {
  const headings = new Map()
  for (const { flags } of commands) {
    for (const [heading, own] of Map.groupBy(flags, ({ group }) => group)) {
      const known = headings.get(heading) ?? { count: 0, flags: new Map() }
      for (const flag of own) if (!known.flags.has(flag.name)) known.flags.set(flag.name, flag)
      headings.set(heading, { ...known, count: known.count + 1 })
    }
  }
  const shared = [...headings].filter(([heading, { count }]) => heading !== '' && count > 1)
  return new Map(shared.map(([heading, { flags }]) => [heading, [...flags.values()]]))
}

function overview(group, commands) {
  const own = commands.filter(command => command.group === group)
  const items = own.flatMap(({ command, aliases, summary }) =>
    item([command, ...aliases].map(bold).join(', '), summary),
  )
  return [`.SS ${quoted(group)}`, ...items]
}

function reference(command, shared) {
  const { flags, formats, examples, notes } = command
  const isShared = flag => shared.get(flag.group)?.some(one => isSame(one, flag)) === true
  const own = flags.filter(flag => !isShared(flag))
  const headings = [...new Set(flags.filter(isShared).map(({ group }) => group))]
  return [
    `.SS ${quoted(`leasectl ${command.command}`)}`,
    ...command.usage.split('\n').flatMap(usageLine),
    ...paragraph(command.description),
    ...command.arguments.flatMap(({ name, description }) => (description ? item(italic(name), description) : [])),
    ...own.flatMap(flagItem),
    ...(formats.length === 0 ? [] : item(bold('-o'), `${formats.join(', ')} (default: ${formats[0]})`)),
    ...headings.flatMap(heading => paragraph(`${heading}: ${namesOf(flags, heading, isShared)}.`)),
    ...blocks(notes),
    ...(examples.length === 0 ? [] : ['.PP', 'Examples:', ...examples.flatMap(example)]),
  ]
}

function isSame(one, other) {
  return one.name === other.name && one.description === other.description
}

function namesOf(flags, heading, isShared) {
  const names = flags.filter(flag => flag.group === heading && isShared(flag)).map(({ name }) => name)
  return names.join(', ')
}

function usageLine(line) {
  return ['.PP', '.nf', text(line.trim()), '.fi']
}

function example({ line, meaning }) {
  return item(text(line), meaning)
}

function exitStatus(codes) {
  return codes.flatMap(({ code, meaning, again }) => item(bold(String(code)), `${meaning}${AGAIN[again]}`))
}

const AGAIN = { '': '', yes: ' (the same command may succeed later)', 'same id': ' (with the same id)' }

function flagItem({ name, short, value, valueOptional, description }) {
  const flags = [short, name].filter(Boolean).map(bold).join(', ')
  const shown = value === null ? '' : valueOptional ? ` [${italic(value)}]` : ` ${italic(value)}`
  return item(`${flags}${shown}`, description)
}

/** Plain text as paragraphs, lists of two columns, and indented lines as they are. */
function blocks(plain) {
  const lines = plain.split('\n')
  const made = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]
    if (line.trim() === '') continue
    const [, indent = '', word, meaning] = /^( *)(\S(?:.*?\S)?) {2,}(\S.*)$/.exec(line) ?? []
    if (word !== undefined) {
      // the meaning continues in lines with a deeper indent
      const rest = takeWhile(lines, at + 1, next => next.startsWith(`${indent}  `) && !/\S {2,}\S/.test(next))
      made.push(...item(bold(word), [meaning, ...rest].map(part => part.trim()).join(' ')))
      at += rest.length
    } else if (line.startsWith('  ')) {
      made.push('.PP', '.nf', text(line), '.fi')
    } else {
      const rest = takeWhile(lines, at + 1, next => /^\S/.test(next) && !/\S {2,}\S/.test(next))
      made.push(...paragraph([line, ...rest].join(' ')))
      at += rest.length
    }
  }
  return made
}

function takeWhile(lines, from, test) {
  const end = lines.findIndex((line, at) => at >= from && !test(line))
  return lines.slice(from, end < 0 ? lines.length : end)
}

function section(title, lines) {
  return [`.SH ${quoted(title)}`, ...lines].join('\n')
}

function paragraph(plain) {
  return ['.PP', text(plain)]
}

/** A tagged paragraph; the tag is roff already. */
function item(tag, plain) {
  return ['.TP', tag, text(plain)]
}

function bold(plain) {
  return `\\fB${escaped(plain)}\\fR`
}

function italic(plain) {
  return `\\fI${escaped(plain)}\\fR`
}

/** An argument of a macro. */
function quoted(plain) {
  return `"${escaped(plain).replaceAll('"', '\\(dq')}"`
}

/** A line of text: one that begins with a dot or an apostrophe would be a request. */
function text(plain) {
  const line = escaped(plain)
  return /^[.']/.test(line) ? `\\&${line}` : line
}

const SPECIAL = { '\\': '\\(rs', '-': '\\-', "'": '\\(aq', '`': '\\(ga', '^': '\\(ha', '~': '\\(ti', '…': '...' }

function escaped(plain) {
  return plain
    .replace(/[\\\-'`^~…]/g, character => SPECIAL[character])
    .replace(
      /[^\x20-\x7e]/gu,
      character => `\\[u${character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}]`,
    )
}
