#!/usr/bin/env python3
"""Makes the files of this folder with other programs' writers, once: `make.py`, in this folder,
with warcio 1.7 and pyarrow 21 or later. The texts were written for simdup."""
import csv
import io
import pathlib

import pyarrow as pa
import pyarrow.parquet as pq
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

HERE = pathlib.Path(__file__).parent
TEXTS = {
    "a": 'The ferry to Saltmere leaves at seven, said the harbour master, "and not a minute later".\n'
    "Those who miss it wait for the evening boat; the café on the quay stays open until then.",
    "b": 'The ferry to Saltmere leaves at seven, said the harbour master, "and not a minute later".\n'
    "Those who miss it wait for the evening boat; the café on the quay stays open until ten.",
    "c": "Nets are mended on the slipway in winter; visitors may watch, and some are handed a needle.",
    "d": "",
    "e": "Маяк виден за двадцать миль; зимой его зажигают в четыре часа дня, летом в десять вечера.",
}


def html(text, menu):
    items = "".join(f"<li><a href='/{name}'>{name}</a>" for name in menu)
    body = "".join(f"<p>{part.replace('&', '&amp;').replace('<', '&lt;')}</p>" for part in text.split("\n"))
    return f"<!doctype html><html><head><title>Saltmere</title><style>p {{}}</style></head><body><ul>{items}</ul>{body}</body></html>"


def make_csv():
    for name, arguments in {
        "python.csv": {},
        "excel.csv": {"delimiter": ";", "quoting": csv.QUOTE_ALL},
        "python.tsv": {"dialect": "excel-tab"},
    }.items():
        with open(HERE / name, "w", newline="", encoding="utf-8-sig" if name == "excel.csv" else "utf-8") as file:
            writer = csv.writer(file, **arguments)
            writer.writerow(["id", "count", "text"])
            for number, (url, text) in enumerate(TEXTS.items()):
                writer.writerow([url, number, text])


def make_warc(name, gzip):
    with open(HERE / name, "wb") as file:
        writer = WARCWriter(file, gzip=gzip)
        writer.write_record(writer.create_warcinfo_record(name, {"software": "make.py"}))
        for number, (url, text) in enumerate(TEXTS.items()):
            encoding = "windows-1251" if url == "e" else "utf-8"
            page = html(text, ["news", "boats", "weather"][: number % 3 + 1]).encode(encoding)
            headers = [("Content-Type", f"text/html; charset={encoding}"), ("Content-Length", str(len(page)))]
            http = StatusAndHeaders("200 OK", headers, protocol="HTTP/1.1")
            uri = f"https://saltmere.example/{url}"
            request = StatusAndHeaders("GET / HTTP/1.1", [("Host", "saltmere.example")], is_http_request=True)
            writer.write_record(writer.create_warc_record(uri, "request", http_headers=request))
            writer.write_record(writer.create_warc_record(uri, "response", payload=io.BytesIO(page), http_headers=http))
        image = StatusAndHeaders("200 OK", [("Content-Type", "image/png")], protocol="HTTP/1.1")
        record = writer.create_warc_record(
            "https://saltmere.example/x.png", "response", payload=io.BytesIO(b"\x89PNG"), http_headers=image
        )
        writer.write_record(record)


def make_wet(name):
    with open(HERE / name, "wb") as file:
        writer = WARCWriter(file, gzip=True)
        for url, text in TEXTS.items():
            record = writer.create_warc_record(
                f"https://saltmere.example/{url}",
                "conversion",
                payload=io.BytesIO(text.encode()),
                warc_content_type="text/plain",
            )
            writer.write_record(record)


def make_parquet():
    table = pa.table(
        {
            "id": pa.array(list(TEXTS)),
            "number": pa.array(range(100, 105), pa.uint32()),
            "text": pa.array([text or None if url != "d" else "" for url, text in TEXTS.items()]),
            "meta": pa.array([{"lang": "ru" if url == "e" else "en", "body": text} for url, text in TEXTS.items()]),
            "tags": pa.array([["x", "y"]] * 5),
            "score": pa.array([0.5, 1.5, None, 3.5, 2.5]),
        }
    )
    for codec in ["snappy", "zstd", "gzip", "none"]:
        pq.write_table(table, HERE / f"{codec}.parquet", compression=codec, row_group_size=2)
    pq.write_table(
        table, HERE / "v2.parquet", compression="zstd", data_page_version="2.0", use_dictionary=False, row_group_size=3
    )
    lists = {
        "url": pa.array(list(TEXTS)),
        "words": pa.array([text.split(" ") if text else None for text in TEXTS.values()]),
        "deep": pa.array([{"lines": [text.split("\n")]} for text in TEXTS.values()]),
        "group": pa.array([1, 1, 2, 2, None], pa.int64()),
        "weight": pa.array([1, 2, 3, 4, 5]),
    }
    pq.write_table(pa.table(lists), HERE / "lists.parquet", compression="lz4", row_group_size=2)
    pq.write_table(pa.table(lists), HERE / "brotli.parquet", compression="brotli")


make_csv()
make_warc("plain.warc", False)
make_warc("members.warc.gz", True)
make_wet("text.warc.wet.gz")
make_parquet()
