#!/bin/sh
# A stand-in for S3 that refuses a late write with If-None-Match stores one with If-Match, or one that comes in parts.
#
# Seen:  moto with boto3 1.44.8. Where an object is, both versions answer 412 to a PutObject or CompleteMultipartUpload
#        with If-None-Match: *. 5.1.0 ignores If-Match everywhere. 5.2.5 obeys it in PutObject and DeleteObject, and not
#        in CompleteMultipartUpload. CopyObject ignores both. Ignored means that the request is carried out and answered
#        with success. Amazon documents 412 for all of these.
# Guess: a store that answers 412 to one conditional write does so to all, or refuses a header that it does not know.
# Why:   to S3 the conditions came one by one, each for its own request, and the stand-in follows.
for moto in 5.1.0 5.2.5; do
    "$(dirname "$0")/python_with" "moto[s3]==$moto" boto3==1.44.8 <<'END' || exit
import boto3
import botocore.exceptions
import moto
import servers

VERSION = f"moto {moto.__version__}"
REFUSED = "(error) 412 PreconditionFailed, and the object is the other's"
TAKEN = "taken, and the object is mine"
new = moto.__version__ == "5.2.5"


def put(**condition):
    s3.put_object(Bucket="bucket", Key="key", Body=b"mine", **condition)


def put_parts(**condition):
    where = {"Bucket": "bucket", "Key": "key"}
    where["UploadId"] = s3.create_multipart_upload(**where)["UploadId"]
    tag = s3.upload_part(PartNumber=1, Body=b"mine", **where)["ETag"]
    s3.complete_multipart_upload(MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": tag}]}, **where, **condition)


def copy(**condition):
    s3.copy_object(Bucket="bucket", Key="key", CopySource="bucket/mine", **condition)


def delete(**condition):
    s3.delete_object(Bucket="bucket", Key="key", **condition)


def late(write, condition):
    """I have seen an object, or none; somebody else stores another one, and then comes my write."""
    seen = s3.put_object(Bucket="bucket", Key="key", Body=b"seen")["ETag"]
    s3.put_object(Bucket="bucket", Key="key", Body=b"other")
    reply = "taken"
    try:
        write(**{condition: "*" if condition == "IfNoneMatch" else seen})
    except botocore.exceptions.ClientError as error:
        status = error.response["ResponseMetadata"]["HTTPStatusCode"]
        reply = servers.Failed(f"{status} {error.response['Error']['Code']}")
    there = s3.list_objects_v2(Bucket="bucket", Prefix="key").get("Contents")
    body = s3.get_object(Bucket="bucket", Key="key")["Body"].read() if there else b""
    found = {b"mine": "the object is mine", b"other": "the object is the other's", b"": "no object is there"}
    return type(reply)(f"{reply}, and {found[body]}")


def saw(write, condition, expected):
    servers.saw(VERSION, f"{write.__name__} with {condition}", late(write, condition), expected)


with moto.mock_aws():
    s3 = boto3.client("s3", "us-east-1", aws_access_key_id="id", aws_secret_access_key="none")
    s3.create_bucket(Bucket="bucket")
    s3.put_object(Bucket="bucket", Key="mine", Body=b"mine")
    saw(put, "IfNoneMatch", REFUSED)
    saw(put, "IfMatch", REFUSED if new else TAKEN)
    saw(put_parts, "IfNoneMatch", REFUSED)
    saw(put_parts, "IfMatch", TAKEN)
    saw(copy, "IfNoneMatch", TAKEN)
    saw(copy, "IfMatch", TAKEN)
    saw(delete, "IfMatch", REFUSED if new else "taken, and no object is there")
servers.end()
END
done
