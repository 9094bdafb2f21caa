"""A guard for S3 and stores that speak like it; tools/fencing/README.md says what it is for. To be pasted.

The object has the token in its metadata. A write replaces the object that was looked at and no other one (If-Match), or
makes the first one (If-None-Match): the store compares, so a pause between the look and the write does no harm. A store
that ignores these headers would store a late write: try yours, by two writes with the same If-Match.
"""
import botocore.exceptions


class LateWrite(Exception):
    pass


def put_fenced(s3, bucket, key, body, token):
    """`s3`: a client of boto3, 1.36 or later. `token`: of the hold; 0, that of a lock without fencing, is refused."""
    if token <= 0:
        raise LateWrite("a write has no fencing token")
    while True:
        try:
            there = s3.head_object(Bucket=bucket, Key=key)
            condition = {"IfMatch": there["ETag"]}
            last = int(there["Metadata"].get("fence", 0))
        except botocore.exceptions.ClientError as error:
            if error.response["ResponseMetadata"]["HTTPStatusCode"] != 404:
                raise
            condition, last = {"IfNoneMatch": "*"}, 0
        if token < last:
            raise LateWrite(f"token {token} is older than {last}")
        try:
            return s3.put_object(Bucket=bucket, Key=key, Body=body, Metadata={"fence": str(token)}, **condition)
        except botocore.exceptions.ClientError as error:
            # Another write came between: look again.
            if error.response["ResponseMetadata"]["HTTPStatusCode"] not in (404, 409, 412):
                raise
