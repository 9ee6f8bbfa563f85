import type { JSX, ReactNode } from 'react';
import type { MarkedToken, Token, Tokens } from 'marked';
import { CopyButton } from '../button.tsx';
import { CitationNumber } from './citation-button.tsx';

/** `[1]`, `[1, 3]` as some models write it, and `[^1]` for a footnote. */
const numberPattern = /\[(\d{1,3}(?:\s{0,9},\s{0,9}\d{1,3}){0,30})\]|\[\^([^\]\s]{1,40})\]/g;

const entityPattern = /&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][\da-z]{1,31});/gi;
const entities = new Map<string, string>();

/** The browser knows all names of characters. A parsed document runs and loads nothing. */
function decodeEntity(entity: string): string {
  let character = entities.get(entity);
  if (character === undefined) {
    character = new DOMParser().parseFromString(entity, 'text/html').body.textContent;
    entities.set(entity, character);
  }
  return character;
}

function decode(text: string): string {
  return text.includes('&') ? text.replace(entityPattern, decodeEntity) : text;
}

/** The numbers of passages become buttons, so that they can be clicked. Links and code are unchanged. */
function withNumbers(text: string): ReactNode {
  if (!text.includes('[')) return text;
  const nodes: ReactNode[] = [];
  let end = 0;
  for (const match of text.matchAll(numberPattern)) {
    nodes.push(text.slice(end, match.index));
    end = match.index + match[0].length;
    if (match[2] !== undefined) nodes.push(<sup key={match.index}>{match[2]}</sup>);
    else {
      const numbers = match[1]!.split(/\s*,\s*/);
      nodes.push(
        ...numbers.map((number, index) => <CitationNumber key={`${match.index} ${index}`} number={Number(number)} />),
      );
    }
  }
  nodes.push(text.slice(end));
  return nodes;
}

const safeProtocol = /^(?:https?|ircs?|mailto|xmpp)$/i;

/** The address of a link, or nothing if opening it could do something else than show a page. */
export function safeAddress(address: string): string {
  const colon = address.indexOf(':');
  const isRelative = colon < 0 || /[/?#]/.test(address.slice(0, colon));
  return isRelative || safeProtocol.test(address.slice(0, colon)) ? address : '';
}

/** A link that a model writes may lead anywhere: it opens outside the window and reveals nothing about this page. */
function OuterLink({ address, children }: { address: string; children: ReactNode }) {
  const href = safeAddress(decode(address));
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" title={href}>
      {children}
    </a>
  );
}

/** An image would send a request to an address that a model chose. Its text and address are shown instead. */
function NamedImage({ text, href }: Tokens.Image) {
  return (
    <span className="tertiary">
      {text || 'Image'}
      {href !== '' && <> ({decode(href)})</>}
    </span>
  );
}

function inlineElement(token: MarkedToken, key: number | undefined, isInLink: boolean): ReactNode {
  const inner = (tokens: readonly Token[]) => drawInline(tokens, isInLink);
  switch (token.type) {
    case 'strong':
      return <strong key={key}>{inner(token.tokens)}</strong>;
    case 'em':
      return <em key={key}>{inner(token.tokens)}</em>;
    case 'del':
      return <del key={key}>{inner(token.tokens)}</del>;
    case 'codespan':
      return <code key={key}>{token.text}</code>;
    case 'br':
      return <br key={key} />;
    case 'link':
      return (
        <OuterLink key={key} address={token.href}>
          {drawInline(token.tokens, true)}
        </OuterLink>
      );
    case 'image':
      return <NamedImage key={key} {...token} />;
    case 'checkbox':
      return <input key={key} type="checkbox" checked={token.checked} disabled readOnly aria-label="Done" />;
    case 'escape':
      return token.text;
    case 'text': {
      if (token.tokens) return inner(token.tokens);
      const text = decode(token.text);
      return isInLink ? text : withNumbers(text);
    }
    default:
      return token.raw;
  }
}

/**
 * Without a fragment for each token: React walks through every part of a long answer when it is replaced, and a text that is the only child of an
 * element is no part of its own.
 */
export function drawInline(tokens: readonly Token[], isInLink = false): ReactNode {
  const [first, second] = tokens as MarkedToken[];
  if (first && !second) return inlineElement(first, undefined, isInLink);
  return (tokens as MarkedToken[]).map((token, index) => inlineElement(token, index, isInLink));
}

/** A block of code with its language and a button that copies it. The text of a long one comes in parts. */
export function CodeBlock({ texts, language }: { texts: readonly string[]; language: string }) {
  return (
    <figure className="code-block" dir="ltr">
      <figcaption>
        <span className="caption tertiary truncate">{language || 'text'}</span>
        <CopyButton text={() => texts.join('')} label="Copy code" isIconOnly size="small" />
      </figcaption>
      <pre tabIndex={0} aria-label={language ? `Code, ${language}` : 'Code'}>
        <code>
          {texts.map((text, index) => (
            <span key={index} className={index < texts.length - 1 && text.endsWith('\n') ? 'code-part' : undefined}>
              {text}
            </span>
          ))}
        </code>
      </pre>
    </figure>
  );
}

export function TableRows({ rows }: { rows: readonly (readonly Tokens.TableCell[])[] }) {
  return rows.map((row, index) => (
    <tr key={index}>
      {row.map(({ tokens, align }, column) => (
        <td key={column} style={align ? { textAlign: align } : undefined}>
          {drawInline(tokens)}
        </td>
      ))}
    </tr>
  ));
}

export function TableHead({ header }: Pick<Tokens.Table, 'header'>) {
  return (
    <thead>
      <tr>
        {header.map(({ tokens, align }, column) => (
          <th key={column} style={align ? { textAlign: align } : undefined}>
            {drawInline(tokens)}
          </th>
        ))}
      </tr>
    </thead>
  );
}

function drawTable({ header, rows }: Tokens.Table, key: number, dir: 'auto' | undefined): ReactNode {
  return (
    <div key={key} className="markdown__table scroll" tabIndex={0} role="group" aria-label="Table" dir={dir}>
      <table>
        <TableHead header={header} />
        <tbody>
          <TableRows rows={rows} />
        </tbody>
      </table>
    </div>
  );
}

function drawItem({ task, tokens }: Tokens.ListItem, key: number): ReactNode {
  return (
    <li key={key} className={task ? 'task-list-item' : undefined}>
      {drawBlocks(tokens)}
    </li>
  );
}

/** Numbers of three digits and more need space that most lists would waste. */
function drawList({ ordered, start, items }: Tokens.List, key: number, dir: 'auto' | undefined): ReactNode {
  if (!ordered)
    return (
      <ul key={key} dir={dir}>
        {items.map(drawItem)}
      </ul>
    );
  const first = Number(start || 0);
  const last = first + items.length - 1;
  return (
    <ol key={key} start={first} dir={dir} className={last > 999 ? 'numbers-4' : last > 99 ? 'numbers-3' : undefined}>
      {items.map(drawItem)}
    </ol>
  );
}

/** The answer is below the heading `Answer`, so its own headings keep their size and move two levels down. */
const headingTags = ['h3', 'h4', 'h5', 'h6'] as const satisfies readonly (keyof JSX.IntrinsicElements)[];

function blockElement(token: MarkedToken, key: number, dir: 'auto' | undefined): ReactNode {
  switch (token.type) {
    case 'heading': {
      const size = Math.min(4, token.depth);
      const Tag = headingTags[size - 1]!;
      return (
        <Tag key={key} className={`heading-${size}`} dir={dir}>
          {drawInline(token.tokens)}
        </Tag>
      );
    }
    case 'paragraph':
      return (
        <p key={key} dir={dir}>
          {drawInline(token.tokens)}
        </p>
      );
    case 'blockquote':
      return (
        <blockquote key={key} dir={dir}>
          {drawBlocks(token.tokens)}
        </blockquote>
      );
    case 'code':
      return <CodeBlock key={key} texts={[token.text]} language={(token.lang ?? '').split(/\s/, 1)[0]!} />;
    case 'list':
      return drawList(token, key, dir);
    case 'table':
      return drawTable(token, key, dir);
    case 'hr':
      return <hr key={key} />;
    case 'html':
      return (
        <p key={key} dir={dir}>
          {token.raw.trim()}
        </p>
      );
    case 'space':
    case 'def':
      return null;
    default:
      return inlineElement(token, key, false);
  }
}

/** Blocks at the top take their direction from their own first letter: models mix Arabic and English in one text. */
export function drawBlocks(tokens: readonly Token[], dir?: 'auto'): ReactNode {
  return tokens.map((token, index) => blockElement(token as MarkedToken, index, dir));
}
